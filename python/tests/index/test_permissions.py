"""An index can be read by nobody who cannot read its shards."""

import gzip
import os
import stat

import pytest
import recmap


@pytest.fixture(autouse=True)
def usual_umask():
    former = os.umask(0o022)
    yield
    os.umask(former)


def mode_of(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def write_shard(path, mode, first=0):
    with recmap.Writer(path.with_suffix(".plain")) as writer:
        for i in range(first, first + 10):
            writer.write({"id": f"secret-{i}", "x": i})
    data = path.with_suffix(".plain").read_bytes()
    path.with_suffix(".plain").unlink()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    path.chmod(mode)
    return path


@pytest.mark.parametrize("suffix", ["tfrecord", "gz"])
@pytest.mark.parametrize(
    ("modes", "expected"),
    [
        ([0o644], 0o644),
        ([0o600], 0o600),
        ([0o640], 0o640),
        ([0o660], 0o640),
        ([0o444], 0o644),
        ([0o604], 0o644),  # others than the group may read it
        ([0o644, 0o600, 0o644], 0o600),
        ([0o644, 0o640], 0o640),
    ],
)
def test_a_new_index_is_as_private_as_its_shards(tmp_path, suffix, modes, expected):
    shards = [write_shard(tmp_path / f"{i}.{suffix}", mode, i) for i, mode in enumerate(modes)]
    seen = []

    def progress(*_):
        seen.extend(mode_of(path) for path in tmp_path.glob("x.rmx.tmp-*"))

    recmap.index(shards, tmp_path / "x.rmx", id="id", progress=progress)
    assert mode_of(tmp_path / "x.rmx") == expected
    assert set(seen) <= {0o600}  # while it is written, it is for its owner only
    recmap.open(tmp_path / "x.rmx").annotate({"y": list(range(10 * len(modes)))})
    assert mode_of(tmp_path / "x.rmx") == expected


def test_a_merged_index_is_as_private_as_its_parts(tmp_path):
    for i, mode in enumerate([0o644, 0o600]):
        shard = write_shard(tmp_path / f"{i}.tfrecord", mode, i)
        recmap.index(shard, tmp_path / f"{i}.rmx")
    recmap.merge(tmp_path / "all.rmx", [tmp_path / "0.rmx", tmp_path / "1.rmx"])
    assert mode_of(tmp_path / "0.rmx") == 0o644
    assert mode_of(tmp_path / "all.rmx") == 0o600


def test_an_index_that_is_replaced_keeps_its_permissions(tmp_path):
    """Without those that the shards deny."""
    shard = write_shard(tmp_path / "0.tfrecord", 0o644)
    recmap.index(shard, tmp_path / "x.rmx")
    for mode in 0o640, 0o664, 0o600:
        (tmp_path / "x.rmx").chmod(mode)
        recmap.open(shard, index=tmp_path / "x.rmx", rebuild=True).close()
        assert mode_of(tmp_path / "x.rmx") == mode
    (tmp_path / "x.rmx").chmod(0o644)
    other = write_shard(tmp_path / "1.tfrecord", 0o600)
    recmap.open([shard, other], index=tmp_path / "x.rmx").close()  # appended
    assert mode_of(tmp_path / "x.rmx") == 0o600


def test_a_writer_gives_both_files_the_same_permissions(tmp_path):
    old = write_shard(tmp_path / "0.tfrecord", 0o600)
    with recmap.Writer(old, index=tmp_path / "0.rmx") as writer:
        writer.write({"x": 1})
    assert mode_of(old) == 0o600
    assert mode_of(tmp_path / "0.rmx") == 0o600
    with recmap.Writer(tmp_path / "1.tfrecord", index=tmp_path / "1.rmx") as writer:
        writer.write({"x": 1})
    assert mode_of(tmp_path / "1.tfrecord") == 0o644
    assert mode_of(tmp_path / "1.rmx") == 0o644
