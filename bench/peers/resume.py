"""Resuming in the middle of an epoch: from a saved state to the next batch.

usage: resume.py FOLDER COPIES SET [REPEATS]

Each creates a new loader, loads the state of half an epoch (tf.data: of 100 batches), and takes
one batch of 256 records as they are, of a shuffled epoch. Opening is outside the time, unless
worker processes do it, or the opened data set holds the state (MosaicML Streaming, LitData).
"""

import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import recmap
from epochs import BUFFER, THREADS, Bagz, as_is, litdata_loader, mosaic_loader
from pairs import measure, report, report_absent, says
from sets import BATCH, Set

QUESTION = "resume in the middle of an epoch"


def ours(data):
    data_set = data.open()
    loader = recmap.Loader(data_set, BATCH, shuffle=True, seed=7, threads=1)
    loader.seek(0, len(data_set) // 2)
    state = json.dumps(loader.state_dict())

    def resume():
        loader = recmap.Loader(data_set, BATCH, shuffle=True, seed=7, threads=1)
        loader.load_state_dict(json.loads(state))
        assert len(next(iter(loader))) == BATCH
        return 1

    return resume


def stateful(data, workers):
    from torchdata.stateful_dataloader import StatefulDataLoader

    source = Bagz(data)

    def loader():
        return StatefulDataLoader(
            source, BATCH, shuffle=True, num_workers=workers, collate_fn=as_is
        )

    loaded = loader()
    batches = iter(loaded)
    for _ in range(len(source) // BATCH // 2):
        next(batches)
    state = loaded.state_dict()
    del batches, loaded

    def resume():
        made = loader()
        made.load_state_dict(state)
        assert len(next(iter(made))) == BATCH
        return 1

    return resume


def grain(data):
    from array_record.python import array_record_data_source

    import grain

    source = array_record_data_source.ArrayRecordDataSource([data.path("data.array_record")])
    read = grain.ReadOptions(num_threads=THREADS, prefetch_buffer_size=THREADS)

    def iterator():
        pipeline = grain.MapDataset.source(source).shuffle(seed=7).batch(BATCH, batch_fn=list)
        return iter(pipeline.to_iter_dataset(read))

    state = iterator().get_state()
    state["next_index"] = len(source) // BATCH // 2

    def resume():
        made = iterator()
        made.set_state(state)
        assert len(next(made)) == BATCH
        return 1

    return resume


def tensorflow(data):
    """A checkpoint of tf.data has the whole shuffle buffer in it, and is a file."""
    import tempfile

    import tensorflow as tf

    folder = tempfile.TemporaryDirectory()
    pipeline = tf.data.TFRecordDataset(data.shards).shuffle(BUFFER, seed=7).batch(BATCH)
    iterator = iter(pipeline)
    for _ in range(100):
        next(iterator)
    path = tf.train.Checkpoint(iterator=iterator).save(os.path.join(folder.name, "state"))

    def resume():
        made = iter(pipeline)
        tf.train.Checkpoint(iterator=made).read(path).expect_partial()
        assert len(next(made)) == BATCH
        return 1 if folder else 0  # the folder is held as long as the checkpoint is read

    return resume


def mosaic(data):
    first = mosaic_loader(data)
    next(iter(first))
    state = first.state_dict()
    state["sample_in_epoch"] = first.dataset.size // 2

    def resume():
        made = mosaic_loader(data)
        made.load_state_dict(state)
        assert len(next(iter(made))["record"]) == BATCH
        made.dataset._iterator.exit()  # else its threads read on while recmap is measured
        return 1

    return resume


def litdata(data):
    loaded = litdata_loader(data)
    batches = iter(loaded)
    for _ in range(len(loaded) // 2):
        next(batches)
    state = loaded.state_dict()
    del batches, loaded

    def resume():
        made = litdata_loader(data)
        made.load_state_dict(state)
        assert len(next(iter(made))) == BATCH
        return 1

    return resume


PEERS = [
    (says("StatefulDataLoader over bagz", "-", "-", "no"), lambda data: stateful(data, 0), 100),
    (
        says("StatefulDataLoader over bagz, 2 workers", "-", "-", "no"),
        lambda data: stateful(data, 2),
        100,
    ),
    (says("Grain over ArrayRecord", "-", "-", "no"), grain, None),
    (says("MosaicML Streaming", "-", "-", "no"), mosaic, None),
    (says("LitData", "-", "-", "no"), litdata, None),
    (says("tf.data, shuffle(10k), checkpoint", "-", "-", "no"), tensorflow, None),
]


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    data = Set(*sys.argv[1:4])
    repeats = int(sys.argv[4]) if len(sys.argv) > 4 else 5
    data.warm()
    mine = ours(data)
    for said, make, goal in PEERS:
        try:
            theirs = make(data)
        except (ImportError, FileNotFoundError) as error:
            report_absent(QUESTION, said, error)
            continue
        report(QUESTION, data.name, said, measure(mine, theirs, repeats), goal, "time")


if __name__ == "__main__":
    main()
