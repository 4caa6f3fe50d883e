"""Runs a loader over a data set with a cache, while calls on the cache's files fail if asked to.

Prints, as JSON, a digest of the batches and states of each epoch, and the warnings. Its argument is
the JSON of the arguments of `run`.
"""

import ctypes
import hashlib
import json
import os
import sys
import warnings

import recmap


def epoch(ds, seed):
    """A digest of all batches and of the state after each."""
    found = hashlib.sha256()
    with recmap.Loader(ds, 32, shuffle=True, seed=seed, threads=2) as loader:
        for batch in loader:
            for record in batch:
                found.update(bytes(record))
            state = loader.state_dict()
            found.update(json.dumps([state["epoch"], state["position"], state["order"]]).encode())
    return found.hexdigest()


def run(index, cache, options, access, faults):
    """`faults`: errors of reads and of writes, and how many calls there are for each that fails."""
    storage = recmap.Storage(cache=cache, options=options, allow_urls=bool(options))
    reading = recmap.Reading(access, span_keep_size=1)
    disk = ctypes.CDLL(os.environ["LD_PRELOAD"]) if faults else None
    with (
        recmap.open(index, storage=storage, access=reading) as ds,
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always")
        ds.gather(range(0, len(ds), 10) if faults and faults[0] else [0])
        if disk:
            disk.fail_calls(*faults)
        found = [epoch(ds, 1), epoch(ds, 2)]
        count = disk.failure_count() if disk else 0
        if disk:
            disk.fail_calls(0, 0, 1)
        found.append(epoch(ds, 3))
    told = [str(each.message) for each in caught if "cache" in str(each.message)]
    return {"epochs": found, "failures": count, "told": told}


if __name__ == "__main__":
    print(json.dumps(run(*json.loads(sys.argv[1]))), flush=True)
