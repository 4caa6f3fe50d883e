"""Shards that are links, as in the cache of a hub (snapshots/REVISION/NAME leads to blobs/HASH) or
in an annex: the name of the link is the name of the shard."""

import hashlib
import os
import warnings
from pathlib import Path

import pytest
import recmap


class Hub:
    """A cache with a folder of files and one of links to them."""

    def __init__(self, folder: Path) -> None:
        self.blobs, self.snapshot = folder / "blobs", folder / "snapshots" / "r1"
        self.blobs.mkdir()
        self.snapshot.mkdir(parents=True)

    def add(self, name: str, values: list[int]) -> Path:
        blob = self.blobs / hashlib.sha1(repr(values).encode()).hexdigest()
        if not blob.exists():
            with recmap.Writer(blob) as writer:
                for value in values:
                    writer.write({"x": value})
        (self.snapshot / name).symlink_to(os.path.relpath(blob, self.snapshot))
        return blob

    def move(self, name: str) -> Path:
        """Moves a file of the snapshot to the blobs, and leaves a link."""
        blob = self.blobs / hashlib.sha1(name.encode()).hexdigest()
        (self.snapshot / name).rename(blob)
        (self.snapshot / name).symlink_to(os.path.relpath(blob, self.snapshot))
        return blob


@pytest.fixture
def hub(tmp_path):
    hub = Hub(tmp_path)
    for k in range(3):
        hub.add(f"s-{k:05d}-of-00003.tfrecord", [k, k + 10])
    return hub


def names(ds):
    return [shard["path"] for shard in ds.shards]


def values(ds):
    return [int(recmap.decode_example(record)["x"][0]) for record in ds]


ALL = [0, 10, 1, 11, 2, 12]
NAMES = [f"s-{k:05d}-of-00003.tfrecord" for k in range(3)]


def test_shards_have_the_names_of_their_links(hub):
    ds = recmap.open(hub.snapshot)
    assert names(ds) == NAMES and values(ds) == ALL
    assert ds.index_path == str(hub.snapshot / "s.rmx")
    assert values(recmap.open(hub.snapshot / "s.rmx")) == ALL
    assert values(recmap.open(hub.snapshot)) == ALL
    assert values(recmap.open(hub.snapshot / "s@3.tfrecord")) == ALL


def test_a_missing_shard_is_noticed_and_may_come_later(hub):
    (hub.snapshot / NAMES[2]).unlink()
    with pytest.warns(UserWarning, match=f"the shard {NAMES[2]} is missing"):
        recmap.open(hub.snapshot)
    hub.add(NAMES[2], [2, 12])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ds = recmap.open(hub.snapshot)
    assert names(ds) == NAMES and values(ds) == ALL


def test_errors_name_the_link(hub):
    blob = hub.add("t.tfrecord", [5])
    content = blob.read_bytes()
    blob.write_bytes(content[:20] + b"?" + content[21:])
    path = str(hub.snapshot / "t.tfrecord")
    with pytest.raises(recmap.CorruptRecordError) as caught:
        recmap.open(path)
    assert caught.value.path == path
    blob.write_bytes(content)
    ds = recmap.open(path)
    blob.write_bytes(content[:-1])
    with pytest.raises(recmap.StaleIndexError) as caught:
        ds[0]
    assert caught.value.path == path
    blob.unlink()
    with pytest.raises(FileNotFoundError) as missing:
        recmap.open(ds.index_path)
    assert missing.value.path == path


def test_an_index_elsewhere_names_the_links(hub, tmp_path):
    path = tmp_path / "other" / "s.rmx"
    path.parent.mkdir()
    assert names(recmap.open(hub.snapshot, index=path)) == [str(hub.snapshot / n) for n in NAMES]
    with pytest.raises(recmap.InvalidError, match="outside its own folder"):
        recmap.open(path)
    assert values(recmap.open(path, access=recmap.Reading(allow_absolute_paths=True))) == ALL
    assert values(recmap.open(path, shards=hub.snapshot)) == ALL


def test_links_to_equal_files_are_shards_of_their_own(hub):
    """A hub keeps equal files once."""
    assert hub.add("e-0.tfrecord", []) == hub.add("e-1.tfrecord", [])
    ds = recmap.open([hub.snapshot / "e-0.tfrecord", hub.snapshot / "e-1.tfrecord"])
    assert names(ds) == ["e-0.tfrecord", "e-1.tfrecord"]


@pytest.mark.parametrize("link", [os.link, os.symlink])
def test_a_new_link_to_an_indexed_file_is_a_shard(tmp_path, link):
    """It is another name of the file, which stays the shard that it was."""
    blobs, folder = tmp_path / "blobs", tmp_path / "shards"
    blobs.mkdir()
    folder.mkdir()
    for first in 0, 5:
        with recmap.Writer(blobs / str(first)) as writer:
            for value in range(first, first + 5):
                writer.write({"x": value})
    link(blobs / "0", folder / "a.tfrecord")
    link(blobs / "5", folder / "c.tfrecord")
    assert values(recmap.open(folder, id="x")) == [*range(10)]
    link(blobs / "5", folder / "b.tfrecord")
    with pytest.warns(UserWarning, match=r"b\.tfrecord follow those of all other shards"):
        ds = recmap.open(folder, id="x")
    assert names(ds) == ["a.tfrecord", "c.tfrecord", "b.tfrecord"]
    assert values(ds) == [*range(10), *range(5, 10)]
    before = Path(ds.index_path).stat()
    assert len(recmap.open(folder, id="x")) == 15
    assert Path(ds.index_path).stat() == before


@pytest.mark.parametrize("link", [os.link, os.symlink])
def test_two_names_of_one_file_are_told(hub, link):
    """When an index is built, and when it gets the second name."""
    blob = hub.add("a-0.tfrecord", [1])
    link(blob, hub.snapshot / "a-1.tfrecord")
    message = r"a-1\.tfrecord: is the same file as .*a-0\.tfrecord, so its records occur twice"
    both = [hub.snapshot / "a-0.tfrecord", hub.snapshot / "a-1.tfrecord"]
    with pytest.warns(UserWarning, match=message):
        assert values(recmap.open(both)) == [1, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert values(recmap.open(both)) == [1, 1]
        assert values(recmap.open(both, sets="all", index=hub.snapshot / "all.rmx")) == [1, 1]
        index = recmap.open(both[0], index=hub.snapshot / "b.rmx").index_path
    with pytest.warns(UserWarning, match=message):
        assert values(recmap.open(both, index=index)) == [1, 1]


def test_equal_shards_of_two_folders_are_told(tmp_path):
    """Long ones are compared by samples."""
    for folder, value in ("a", 1), ("b", 2), ("c", 1):
        (tmp_path / folder).mkdir()
        with recmap.Writer(tmp_path / folder / "x.tfrecord") as writer:
            for i in range(5000):
                writer.write({"x": i, "y": [float(value)]})
    sources = [tmp_path / folder for folder in "abc"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(recmap.open(sources[:2], index=tmp_path / "ab.rmx")) == 10000
        assert len(recmap.open(sources, sets="all", index=tmp_path / "all.rmx")) == 15000
    with pytest.warns(UserWarning, match=r"c/x\.tfrecord: seems to be a copy of .*a/x\.tfr"):
        assert len(recmap.open(sources, index=tmp_path / "abc.rmx")) == 15000


def test_links_that_changed_places(hub):
    """The index names files; each link is the shard of one of them."""
    blobs = [os.path.realpath(hub.snapshot / name) for name in NAMES]
    recmap.index([blobs[0], blobs[2]], hub.snapshot / "s.rmx")
    ds = recmap.open(hub.snapshot)
    assert names(ds) == [blobs[0], blobs[2], NAMES[1]]
    assert values(recmap.open(hub.snapshot)) == [0, 10, 2, 12, 1, 11]


def test_a_link_beside_its_file_is_the_same_shard(tmp_path):
    with recmap.Writer(tmp_path / "a.tfrecord") as writer:
        writer.write({"x": 1})
    (tmp_path / "b.tfrecord").symlink_to("a.tfrecord")
    with pytest.raises(recmap.InvalidError, match="named twice") as caught:
        recmap.open(tmp_path)
    assert caught.value.path == str(tmp_path / "b.tfrecord")
    ds = recmap.open(tmp_path / "a.tfrecord")
    with pytest.raises(recmap.InvalidError, match="named twice"):
        recmap.open([tmp_path / "a.tfrecord", tmp_path / "b.tfrecord"], index=ds.index_path)


def test_an_index_that_names_the_files_is_used(hub):
    """As indexes were built before links kept their names."""
    blobs = [os.path.realpath(hub.snapshot / name) for name in NAMES]
    recmap.index(blobs[:2], hub.snapshot / "s.rmx", lift=["x"])
    opened = recmap.open(hub.snapshot / "s.rmx", access=recmap.Reading(allow_absolute_paths=True))
    opened.annotate({"y": range(4)})
    ds = recmap.open(hub.snapshot)
    assert values(ds) == ALL and names(ds) == [*blobs[:2], NAMES[2]]
    assert ds.columns["y"].tolist()[:4] == [0, 1, 2, 3]


def test_an_index_that_is_a_link_has_its_shards_beside_it(hub):
    recmap.open(hub.snapshot)
    blob = hub.move("s.rmx")
    before = blob.read_bytes()
    for source in hub.snapshot / "s.rmx", hub.snapshot:
        ds = recmap.open(source)
        assert values(ds) == ALL
        assert values(recmap.concat([ds, ds])) == ALL * 2
    with recmap.open(hub.snapshot / "s.rmx") as ds:
        ds.annotate({"y": range(6)})
    assert not (hub.snapshot / "s.rmx").is_symlink() and blob.read_bytes() == before
    assert values(recmap.open(hub.snapshot / "s.rmx")) == ALL


def test_a_link_to_an_index_elsewhere_has_the_shards_there(tmp_path):
    """The shards beside the file take part only if none is beside the link."""
    data, links = tmp_path / "data", tmp_path / "links"
    data.mkdir()
    links.mkdir()
    with recmap.Writer(data / "a.tfrecord") as writer:
        writer.write({"x": 7})
    recmap.open(data)
    (links / "a.rmx").symlink_to("../data/a.rmx")
    assert values(recmap.open(links / "a.rmx")) == [7]
    (links / "a.tfrecord").symlink_to("../data/a.tfrecord")
    assert values(recmap.open(links / "a.rmx")) == [7]
    assert values(recmap.open(links)) == [7]


def test_a_selection_and_its_index_may_be_links(hub):
    ds = recmap.open(hub.snapshot)
    ds.select([1, 4]).save(hub.snapshot / "few.rmv")
    assert values(recmap.open(hub.snapshot / "few.rmv")) == [10, 2]
    hub.move("s.rmx")
    assert values(recmap.open(hub.snapshot / "few.rmv")) == [10, 2]
    recmap.open(hub.snapshot / "s.rmx").select([5]).save(hub.snapshot / "one.rmv")
    assert values(recmap.open(hub.snapshot / "one.rmv")) == [12]
    hub.move("few.rmv")
    assert values(recmap.open(hub.snapshot / "few.rmv")) == [10, 2]


def test_a_link_to_a_selection_elsewhere_has_the_index_there(hub, tmp_path):
    recmap.open(hub.snapshot).select([0]).save(hub.snapshot / "few.rmv")
    (tmp_path / "few.rmv").symlink_to("snapshots/r1/few.rmv")
    assert values(recmap.open(tmp_path / "few.rmv")) == [0]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to make links of another user")
def test_links_of_other_users_need_permission(hub):
    """One rule for shards and for the index of a selection."""
    ds = recmap.open(hub.snapshot)
    ds.select([1]).save(hub.snapshot / "few.rmv")
    os.chown(hub.snapshot / NAMES[0], 65534, 65534, follow_symlinks=False)
    with pytest.raises(recmap.InvalidError, match="made by another user"):
        recmap.open(hub.snapshot / "s.rmx")[0]
    assert recmap.open(hub.snapshot / "s.rmx", access=recmap.Reading(allow_absolute_paths=True))[0]
    assert values(recmap.open(hub.snapshot)) == ALL  # the caller names the links
    hub.move("s.rmx")
    os.chown(hub.snapshot / "s.rmx", 65534, 65534, follow_symlinks=False)
    with pytest.raises(recmap.InvalidError, match="not followed"):
        recmap.open(hub.snapshot / "few.rmv")
    assert (
        len(recmap.open(hub.snapshot / "few.rmv", access=recmap.Reading(allow_absolute_paths=True)))
        == 1
    )


def test_folders_that_are_links_are_not_followed(tmp_path):
    """Neither to shards nor to the index of a selection."""
    data = tmp_path / "data"
    data.mkdir()
    with recmap.Writer(data / "a.tfrecord") as writer:
        writer.write({"x": 7})
    ds = recmap.open(data, index=tmp_path / "a.rmx")
    inner = recmap.open(data)
    inner.select([0]).save(tmp_path / "few.rmv")
    data.rename(tmp_path / "moved")
    data.symlink_to("moved")
    with pytest.raises(recmap.Error, match="symbolic link"):
        recmap.open(ds.index_path)[0]
    with pytest.raises(recmap.InvalidError, match="symbolic link"):
        recmap.open(tmp_path / "few.rmv")
