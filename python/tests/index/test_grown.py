"""Shards to which records were added since they were indexed."""

import multiprocessing
import os
import re
import shutil
import tarfile
import warnings

import numpy as np
import pytest
import recmap

N = recmap.FixedLen((), "int64")


def example(n):
    return recmap.encode_example({"n": n, "id": f"id-{n}", "tokens": list(range(n % 5))})


def frames(numbers):
    """The bytes of a shard with these records."""
    path = f"/dev/shm/recmap-grown-{os.getpid()}.tfrecord"
    with recmap.Writer(path) as writer:
        for n in numbers:
            writer.write(example(n))
    with open(path, "rb") as stream:
        data = stream.read()
    os.unlink(path)
    return data


def grow(path, numbers):
    with open(path, "ab") as stream:
        stream.write(frames(numbers))


def values(ds):
    return ds.parse(range(len(ds)), {"n": N})["n"].tolist()


@pytest.fixture
def log(tmp_path):
    """Two shards of five records: 0 to 4, and 10 to 14."""
    grow(tmp_path / "a-0.tfrecord", range(5))
    grow(tmp_path / "a-1.tfrecord", range(10, 15))
    return tmp_path


@pytest.mark.parametrize("access", ["map", "read", "direct"])
def test_new_records_follow_all_others(log, access):
    options = {"id": "id", "lift": ["n"], "count": ["tokens"], "access": access}
    ds = recmap.open(str(log), **options)
    grow(log / "a-0.tfrecord", range(5, 8))
    assert values(ds) == [*range(5), *range(10, 15)]  # what is open stays readable
    again = recmap.open(str(log), **options)
    expected = [*range(5), *range(10, 15), *range(5, 8)]
    assert values(again) == expected and again.columns["n"].tolist() == expected
    assert again.find_many([f"id-{n}" for n in expected]).tolist() == list(range(13))
    assert again.counts["tokens"][:].tolist() == [n % 5 for n in expected]
    assert [bytes(r) for r in again.gather([12, 0, 7, 10])] == [example(n) for n in (7, 0, 12, 5)]
    report = again.verify(progress=None)
    assert report["damage"] == [] and report["records_good"] == 13
    loader = recmap.Loader(again, 4, features={"n": N}, shuffle=True, epochs=1)
    assert sorted(n for batch in loader for n in batch["n"].tolist()) == sorted(expected)


def test_a_shard_grows_again_and_again(log):
    recmap.open(str(log), id="id")
    expected = [*range(5), *range(10, 15)]
    for first in 20, 30, 40:
        for shard in "a-1.tfrecord", "a-0.tfrecord":
            grow(log / shard, range(first, first + 2))
        expected += 2 * list(range(first, first + 2))
        ds = recmap.open(str(log), id="id")
        assert values(ds) == expected
    assert ds.info["shards"] == 2 and len(ds.shards) == 8
    assert ds.verify(progress=None) == {"records": 22, "records_good": 22, "damage": []}
    total = sum(path.stat().st_size for path in log.glob("*.tfrecord"))
    assert ds.info["bytes"] == total
    # Building again numbers the records in the order of the shards.
    assert values(recmap.open(str(log), rebuild=True))[:11] == [
        *range(5),
        *(20, 21, 30, 31, 40, 41),
    ]


def test_a_shard_that_grew_and_one_that_follows(log):
    recmap.open(str(log))
    grow(log / "a-1.tfrecord", [15])
    grow(log / "a-2.tfrecord", [20])
    assert values(recmap.open(str(log))) == [*range(5), *range(10, 15), 15, 20]


def test_an_empty_shard_grows(tmp_path):
    (tmp_path / "log.tfrecord").write_bytes(b"")
    assert len(recmap.open(str(tmp_path / "log.tfrecord"))) == 0
    for count in 3, 5:
        grow(tmp_path / "log.tfrecord", range(count - 2 if count > 3 else 0, count))
        ds = recmap.open(str(tmp_path / "log.tfrecord"))
    assert values(ds) == list(range(5))
    assert ds.verify(progress=None)["damage"] == []


def test_large_parts_are_scanned_in_segments(tmp_path):
    path = tmp_path / "large.tfrecord"
    payloads = [os.urandom(1 << 20) for _ in range(24)]
    for part in payloads[:3], payloads[3:]:
        with recmap.Writer(tmp_path / "part.tfrecord") as writer:
            for payload in part:
                writer.write(payload)
        with open(path, "ab") as stream:
            stream.write((tmp_path / "part.tfrecord").read_bytes())
        ds = recmap.open(str(path))
    assert [bytes(record) for record in ds] == payloads
    assert ds.verify(progress=None)["records_good"] == 24


@pytest.mark.parametrize(
    "framing, old, new",
    [
        ("lines", b"one\ntwo\n", b"three\n"),
        ("fixed:4,2,0", b"head1122", b"33"),
        ("ofrecord", (1).to_bytes(8, "little") + b"a", (2).to_bytes(8, "little") + b"bc"),
    ],
)
def test_shards_of_other_framings_grow(tmp_path, framing, old, new):
    path = tmp_path / "log.data"
    path.write_bytes(old)
    before = [bytes(record) for record in recmap.open(str(path), framing=framing)]
    path.write_bytes(old + new)
    ds = recmap.open(str(path), framing=framing)
    path.with_name("whole.data").write_bytes(old + new)
    whole = recmap.open(str(path.with_name("whole.data")), framing=framing)
    assert [bytes(record) for record in ds] == [bytes(record) for record in whole]
    assert len(ds) == len(before) + 1


def test_an_open_end_is_noticed(tmp_path):
    """A warning each, and growth of what was complete is still possible."""
    path = tmp_path / "log.txt"
    path.write_bytes(b"one\ntw")
    match = (
        r"log.txt: record 1 at byte 4: no line feed after the last record; the file may still be"
    )
    with pytest.warns(UserWarning, match=match):
        recmap.open(path, framing="lines")
    path.write_bytes(b"one\ntwo\n")
    refused(path, r"record 1 at byte 4: .*its last record is longer", framing="lines")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ds = recmap.open(path, framing="lines", rebuild=True)
        path.write_bytes(b"one\ntwo\nthree\n")
        assert len(ds) == 2 and len(recmap.open(path, framing="lines")) == 3


def test_an_archive_without_an_end_is_noticed(tmp_path):
    """Its last sample may continue, so the archive is indexed again if it grew."""
    path = tmp_path / "a.tar"
    sizes = []
    with tarfile.open(path, "w") as archive:
        for name in "1.a", "1.b", "2.a", "2.b":
            archive.addfile(tarfile.TarInfo(name))
            sizes.append(archive.offset)
    whole = path.read_bytes()
    path.write_bytes(whole[: sizes[2]])
    with pytest.warns(UserWarning, match=r"a.tar: record 1 at byte 1024: no zeros .* still be"):
        recmap.open(path, framing="tar")
    path.write_bytes(whole)
    with pytest.raises(recmap.StaleIndexError, match=r"a\.tar") as caught:
        recmap.open(path, framing="tar")
    assert "rebuild=True" in caught.value.advice
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ds = recmap.open(path, framing="tar", rebuild=True)
    assert [len(record) for record in ds] == [1024, 1024]


def test_an_empty_member_of_a_set_is_noticed(tmp_path):
    for number in 0, 2:
        grow(tmp_path / f"a-{number:05}-of-00003.tfrecord", [number])
    (tmp_path / "a-00001-of-00003.tfrecord").write_bytes(b"")
    match = r"a-00001-of-00003.tfrecord: the shard of a set is empty \(0 bytes\)"
    with pytest.warns(UserWarning, match=match) as caught:
        ds = recmap.open(tmp_path)
    assert len(caught) == 1 and len(ds) == 2


def test_ids_of_a_set_that_was_empty_are_no_obstacle(tmp_path):
    """The id was asked for when nobody could know that no record has it."""
    path = tmp_path / "a.tfrecord"
    path.touch()
    with pytest.warns(UserWarning, match="no records"):
        recmap.open(path, id="key")
    with recmap.Writer(tmp_path / "b.tfrecord") as writer:
        writer.write({"n": 1})
    path.write_bytes((tmp_path / "b.tfrecord").read_bytes())
    with pytest.warns(UserWarning, match="no record has an id: .* the feature 'key'"):
        assert len(recmap.open(path)) == 1
    assert recmap.open(path, id="n", rebuild=True).find(1) == 0
    (tmp_path / "a.rmx").unlink()
    path.write_bytes(b"")
    with pytest.warns(UserWarning, match="no records"):
        recmap.open(path, id="key")
    path.write_bytes((tmp_path / "b.tfrecord").read_bytes())
    with pytest.warns(UserWarning, match="no record has an id"):
        assert len(recmap.open(path, rebuild=True)) == 1


def refused(path, match, **options):
    with pytest.raises(recmap.StaleIndexError, match=match) as caught:
        recmap.open(str(path), **options)
    assert "write new records to new shards" in caught.value.advice
    assert "rebuild=True" in caught.value.advice
    assert caught.value.path == str(path)
    return caught.value


def test_a_line_that_was_not_ended_is_not_continued(tmp_path):
    path = tmp_path / "log.txt"
    path.write_bytes(b"one\ntw")
    recmap.open(str(path), framing="lines")
    path.write_bytes(b"one\ntwo\nthree\n")
    refused(path, "its last record is longer", framing="lines")


def test_a_changed_old_end_is_refused(log):
    recmap.open(str(log / "a-0.tfrecord"))
    data = bytearray((log / "a-0.tfrecord").read_bytes())
    data[-5] ^= 1  # of the last record's payload
    (log / "a-0.tfrecord").write_bytes(bytes(data))
    grow(log / "a-0.tfrecord", [5])
    error = refused(log / "a-0.tfrecord", "its content differs")
    assert error.record == 4


def test_another_larger_file_is_refused(log):
    recmap.open(str(log / "a-0.tfrecord"))
    (log / "a-0.tfrecord").write_bytes(frames(range(100, 120)))
    assert refused(log / "a-0.tfrecord", "its content differs").record == 0


def test_a_larger_compressed_shard_is_refused(tmp_path):
    path = tmp_path / "a.tfrecord.gz"
    for n in 2, 3:
        with recmap.Writer(tmp_path / "part.tfrecord.gz", compression="gzip") as writer:
            writer.write(example(n))
        with open(path, "ab") as stream:
            stream.write((tmp_path / "part.tfrecord.gz").read_bytes())
        if n == 2:
            recmap.open(str(path))
    refused(path, "of such a file, new records cannot be read alone")


def test_a_tar_archive_that_grew_is_refused(tmp_path):
    import tarfile

    path = tmp_path / "a.tar"
    (tmp_path / "a.txt").write_bytes(b"a")
    for mode in "w", "a":
        with tarfile.open(path, mode) as archive:
            archive.add(tmp_path / "a.txt", f"{mode}.txt")
            for _ in range(30 if mode == "a" else 0):
                archive.add(tmp_path / "a.txt", f"{mode}{_}.txt")
        if mode == "w":
            recmap.open(str(path), framing="tar")
    refused(path, "of such a file, new records cannot be read alone", framing="tar")


def test_a_record_that_was_written_in_part_is_refused(log):
    path = log / "a-0.tfrecord"
    whole = path.read_bytes()
    path.write_bytes(whole[:-7])
    with pytest.warns(UserWarning, match="skipped damage"):
        ds = recmap.open(str(path), on_bad_record="skip")
    path.write_bytes(whole)
    assert values(ds) == list(range(4))
    refused(path, "its last record was not whole", on_bad_record="skip")
    assert values(recmap.open(str(path), rebuild=True)) == list(range(5))


def test_a_shard_that_shrank_is_refused(log):
    recmap.open(str(log / "a-0.tfrecord"))
    os.truncate(log / "a-0.tfrecord", 100)
    with pytest.raises(recmap.StaleIndexError, match="has 100 bytes, but had"):
        recmap.open(str(log / "a-0.tfrecord"))


def test_damage_in_new_records_names_its_place(log):
    ds = recmap.open(str(log))
    size = (log / "a-0.tfrecord").stat().st_size
    grow(log / "a-0.tfrecord", [5, 6])
    data = bytearray((log / "a-0.tfrecord").read_bytes())
    data[size + 20] ^= 1
    (log / "a-0.tfrecord").write_bytes(bytes(data))
    with pytest.raises(recmap.CorruptRecordError) as caught:
        recmap.open(str(log))
    assert (caught.value.record, caught.value.offset) == (10, size)
    assert values(ds) == [*range(5), *range(10, 15)]
    with pytest.warns(UserWarning, match="skipped damage"):
        ds = recmap.open(str(log), on_bad_record="skip")
    assert ds.info["damage"][0]["offset"] == size
    assert values(ds) == [*range(5), *range(10, 15), 6]
    assert ds.verify(progress=None)["damage"] == []


def test_an_annotated_index_keeps_its_columns(log):
    recmap.open(str(log)).annotate({"score": np.arange(10)})
    grow(log / "a-0.tfrecord", [5])
    scores = recmap.open(str(log)).columns["score"]
    assert scores[:10].tolist() == list(range(10)) and scores[10] is np.ma.masked


def test_annotating_and_lifting_keep_the_parts(log):
    recmap.open(str(log))
    grow(log / "a-0.tfrecord", [5])
    ds = recmap.open(str(log))
    ds = ds.lift(["n"])
    assert ds.columns["n"].tolist() == [*range(5), *range(10, 15), 5]
    ds.annotate({"score": np.arange(11)})
    ds = recmap.open(str(log))
    assert values(ds) == ds.columns["n"].tolist()


def test_merging_keeps_the_parts(log, tmp_path):
    for shard in "a-0.tfrecord", "a-1.tfrecord":
        recmap.open(str(log / shard), index=log / f"{shard}.rmx")
        grow(log / shard, [7])
        recmap.open(str(log / shard), index=log / f"{shard}.rmx")
    recmap.merge(log / "all.rmx", [log / "a-0.tfrecord.rmx", log / "a-1.tfrecord.rmx"])
    assert values(recmap.open(log / "all.rmx")) == [*range(5), 7, *range(10, 15), 7]


def test_a_copy_of_a_shard_that_grew(log, tmp_path):
    recmap.open(str(log), index=log / "all.rmx")
    grow(log / "a-0.tfrecord", [5])
    recmap.open(str(log), index=log / "all.rmx")
    (tmp_path / "copy").mkdir()
    for shard in log.glob("*.tfrecord"):
        shutil.copy(shard, tmp_path / "copy")
        os.utime(tmp_path / "copy" / shard.name, (1, 1))
    ds = recmap.open(log / "all.rmx", shards=tmp_path / "copy")
    assert values(ds) == [*range(5), *range(10, 15), 5]
    assert ds.verify(progress=None)["damage"] == []


def test_a_selection_of_before_stays_valid(log):
    ds = recmap.open(str(log), index=log / "all.rmx")
    ds.select([9, 1]).save(log / "some.rmv")
    grow(log / "a-0.tfrecord", [5])
    recmap.open(str(log), index=log / "all.rmx")
    assert values(recmap.open(log / "some.rmv")) == [14, 1]


def test_a_text_index_is_of_whole_shards(log):
    recmap.open(str(log))
    grow(log / "a-0.tfrecord", [5])
    (log / "idx").mkdir()
    with (
        pytest.raises(recmap.UnsupportedError, match="new records of a shard"),
        pytest.deprecated_call(),
    ):
        recmap.open(str(log), from_idx=log / "idx")


def test_verify_says_that_a_shard_grew(log):
    ds = recmap.open(str(log))
    grow(log / "a-0.tfrecord", [5])
    for numbers in [5], [6, 7]:
        (found,) = recmap.open(ds.index_path).verify(progress=None)["damage"]
        assert "the shard has grown from" in found["reason"]
        assert found["reason"].endswith("take up its new records with `recmap index --append`")
        assert recmap.open(str(log)).verify(progress=None)["damage"] == []
        grow(log / "a-0.tfrecord", numbers)


def open_and_count(folder, queue):
    queue.put(len(recmap.open(folder)))


def test_processes_that_open_a_grown_set_at_once(log):
    recmap.open(str(log))
    grow(log / "a-0.tfrecord", range(5, 8))
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    processes = [context.Process(target=open_and_count, args=(str(log), queue)) for _ in range(4)]
    for process in processes:
        process.start()
    counts = [queue.get(timeout=60) for _ in processes]
    for process in processes:
        process.join()
    assert counts == [13] * 4


def test_the_advice_to_rebuild_names_a_shard_once(log):
    """Its parts are not shards of their own, so the advised call works."""
    path = recmap.open(str(log)).index_path
    grow(log / "a-0.tfrecord", range(5, 8))
    recmap.open(str(log))
    with open(log / "a-1.tfrecord", "r+b") as stream:
        stream.truncate(frames([10]).__len__())
    with pytest.raises(recmap.StaleIndexError) as caught:
        recmap.open(path).verify(progress=None)
        values(recmap.open(path))
    assert caught.value.advice.count("a-0.tfrecord") == 1


def test_a_flat_copy_of_a_shard_that_grew(log, tmp_path):
    """The index was written above the folder of its shards."""
    (log / "sub").mkdir()
    for name in "a-0", "a-1":
        shutil.move(log / f"{name}.tfrecord", log / "sub")
    shards = [str(log / "sub" / f"{name}.tfrecord") for name in ("a-0", "a-1")]
    path = str(log / "up.rmx")
    recmap.open(shards, index=path)
    grow(log / "sub" / "a-0.tfrecord", range(5, 8))
    recmap.open(shards, index=path)
    (log / "flat").mkdir()
    for shard in shards:
        shutil.copy(shard, log / "flat")
    expected = [*range(5), *range(10, 15), *range(5, 8)]
    assert values(recmap.open(path, shards=log / "flat")) == expected
    (log / "flat" / "a-1.tfrecord").unlink()
    with pytest.raises(FileNotFoundError) as caught:
        values(recmap.open(path, shards=log / "flat"))
    assert str(log / "flat" / "a-1.tfrecord") in caught.value.advice
    shutil.move(log / "sub", log / "moved")
    with pytest.raises(FileNotFoundError) as caught:
        recmap.open(path)
    assert "FOLDER/sub/a-0.tfrecord or FOLDER/a-0.tfrecord" in caught.value.advice
    assert values(recmap.open(path, shards=log / "moved")) == expected


# ---- Annotated columns, which are only in the index.


@pytest.fixture
def scored(tmp_path):
    """The shards a-0, a-1 and a-3 of two records each, whose index has an annotated column."""
    for n in 0, 1, 3:
        grow(tmp_path / f"a-{n}.tfrecord", range(10 * n, 10 * n + 2))
    with recmap.open(tmp_path, id="id", lift=["n"]) as ds:
        ds.annotate({"score": np.arange(6.0)})
    return tmp_path


def check_scored(ds, new):
    assert values(ds) == [0, 1, 10, 11, 30, 31, new]
    assert ds.columns["score"].tolist() == [0, 1, 2, 3, 4, 5, None]
    assert ds.find(f"id-{new}") == 6


def advised(error, folder):
    """Runs the Python call that an error advises. `shards` is what the caller opened."""
    call = re.search(r"recmap\.open\(.*?\)(?:\.annotate\(.*?\))?(?= |$)", error.advice)[0]
    return eval(call, {"recmap": recmap, "shards": folder})


@pytest.mark.parametrize("number", [3, 1, 2, 4])
def test_an_annotated_index_takes_up_all_new_records(scored, number):
    grow(scored / f"a-{number}.tfrecord", [number * 10 + 5])
    new = number * 10 + 5
    with pytest.raises(recmap.FeatureError, match="would lose its annotated") as caught:
        recmap.index(scored, id="id")
    with pytest.raises(recmap.FeatureError, match="open it without rebuild=True to add"):
        recmap.open(scored, rebuild=True)
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        check_scored(advised(caught.value, scored), new)
    assert [str(w.message).partition(": ")[2] for w in noted] == [
        f"the records of {scored}/a-2.tfrecord follow those of all other shards, because the index "
        "had shards after it"
    ] * (number == 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_scored(recmap.open(scored), new)
    drop = re.search(r"recmap\.open\([^)]*\)\.annotate\(.*\)", caught.value.advice)[0]
    eval(drop, {"recmap": recmap})
    recmap.index(scored, id="id", lift=["n"])
    assert values(recmap.open(scored)) == sorted([0, 1, 10, 11, 30, 31, new])


def test_the_order_of_a_list_is_kept(scored):
    """Shards that are listed have an order that the caller chose."""
    grow(scored / "a-2.tfrecord", [25])
    paths = [scored / f"a-{n}.tfrecord" for n in (0, 1, 2, 3)]
    with pytest.raises(recmap.StaleIndexError, match=r"a-3.*a-2.* in its place") as caught:
        recmap.open(paths)
    advice = f"in the order of recmap.open({str(scored / 'a.rmx')!r}).shards, and new ones last"
    assert advice in caught.value.advice
    names = [shard["path"] for shard in recmap.open(scored / "a.rmx").shards]
    check_scored(recmap.open([*(scored / name for name in names), paths[2]]), 25)


def test_a_list_names_each_shard_once(scored):
    paths = [str(scored / f"a-{n}.tfrecord") for n in (0, 1, 3)]
    for other in paths[1], f"{scored}/./a-1.tfrecord":
        with pytest.raises(recmap.InvalidError, match="named twice") as caught:
            recmap.open([*paths, other])
        assert caught.value.path == other


def test_a_missing_shard_beside_a_new_one(scored):
    (scored / "a-1.tfrecord").rename(scored / "a-2.tfrecord")
    match = r"the index has the shard a-1.tfrecord, but .*a-2.tfrecord was given in its place"
    with pytest.raises(recmap.StaleIndexError, match=match):
        recmap.open(scored)


def write(path, numbers):
    with recmap.Writer(path, compression="gzip" if path.suffix == ".gz" else "none") as writer:
        for n in numbers:
            writer.write(example(n))


@pytest.mark.parametrize(
    "end, changed", [(".tfrecord.gz", range(8)), (".tfrecord", range(5, 10))], ids=["grown", "same"]
)
def test_what_cannot_be_appended_is_not_announced(tmp_path, end, changed):
    """And the advised call names the new shard in its place."""
    for name, numbers in ("a", range(5)), ("c", range(20, 25)):
        write(tmp_path / f"{name}{end}", numbers)
    path = recmap.open(tmp_path, id="id").index_path
    write(tmp_path / f"a{end}", changed)
    write(tmp_path / f"b{end}", range(10, 15))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(recmap.StaleIndexError) as caught:
            recmap.open(tmp_path)
        listed = ", ".join(repr(f"{tmp_path}/{name}{end}") for name in "abc")
        call = f"recmap.open([{listed}], index={path!r}, rebuild=True)"
        assert f"`{call}`" in caught.value.advice
        ds = eval(call, {"recmap": recmap})
    assert values(ds) == [*changed, *range(10, 15), *range(20, 25)]
    assert ds.find("id-12") == len(changed) + 2
