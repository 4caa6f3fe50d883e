"""Sixteen processes that open a set without an index at once. One of them is killed."""

import subprocess
import sys
import textwrap

import pytest
import recmap

COUNT = 16

OPEN = textwrap.dedent("""
    import sys, recmap
    print("ready", flush=True)
    sys.stdin.readline()
    with recmap.open(sys.argv[1]) as ds:
        sums = [sum(batch) for batch in recmap.Loader(ds, 500, shuffle=True, seed=1,
                                                      transform=lambda batch: batch.numbers)]
        print(ds.fingerprint, len(ds), sums)
""")


def write(folder):
    folder.mkdir()
    with recmap.Writer(str(folder / "a-{shard}.tfrecord"), 8) as writer:
        for number in range(20_000):
            writer.write(number.to_bytes(4, "little") * 50)


def start(folder):
    return subprocess.Popen(
        [sys.executable, "-c", OPEN, folder],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def release(processes):
    """Lets all of them open the set at the same time."""
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.stdin.write("\n")
        process.stdin.flush()


@pytest.fixture
def expected(tmp_path):
    """What a process finds that is alone."""
    write(tmp_path / "alone")
    process = start(tmp_path / "alone")
    release([process])
    return process.communicate(timeout=300)[0]


def is_building(folder):
    return any(".rmx.tmp-" in path.name for path in folder.iterdir())


@pytest.mark.parametrize("kills", [False, True])
def test_builders_at_once(tmp_path, expected, kills):
    """All find the same records under the same fingerprint, and nothing is left over."""
    folder = tmp_path / "shared"
    write(folder)
    processes = [start(folder) for _ in range(COUNT)]
    release(processes)
    if kills:
        while not is_building(folder) and processes[0].poll() is None:
            pass
        processes[0].kill()
        processes.pop(0).communicate()
    found = [process.communicate(timeout=300)[0] for process in processes]
    assert all(process.returncode == 0 for process in processes)
    assert set(found) == {expected}
    with recmap.open(folder) as ds:
        assert str(ds.fingerprint) in expected
    left = sorted(path.name for path in folder.iterdir() if not path.name.startswith("a-"))
    assert left == [ds.index_path.rpartition("/")[2]] or kills
