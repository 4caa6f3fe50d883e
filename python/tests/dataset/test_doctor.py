"""Dataset.doctor(): the form of the result, views, samples; and metadata of TFDS on opening."""

import json
import os
import warnings

import pytest
import recmap
from conftest import ROOT, write
from recmap._dataset.sample import sample_of


def record(number, **changes):
    return {"label": number % 7, "position": [number / 3, number / 7], **changes}


def records_with_faults():
    records = [record(number) for number in range(100)]
    records[20] = record(20, label=0.5)
    records[40] = record(40, position=[0.5, float("nan")])
    records[70] = records[3]
    return records


@pytest.fixture
def faulty(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the kind that changes
        write(tmp_path, records_with_faults(), name="faulty.tfrecord")
    with recmap.open(tmp_path / "faulty.tfrecord") as ds:
        yield ds


def found(ds, **options):
    return [(f["check"], f["record"]) for f in ds.doctor(**options)["findings"]]


def test_findings_name_shard_record_and_advice(faulty, tmp_path):
    diagnosis = faulty.doctor()
    assert (diagnosis["records"], diagnosis["records_read"]) == (100, 100)
    kinds, *_ = diagnosis["findings"]
    assert kinds == {
        "check": "feature_kinds",
        "severity": "error",
        "shard": str(tmp_path / "faulty.tfrecord"),
        "record": 20,
        "message": "1 of 100 records has feature 'label' of another kind than int64; the first has "
        "float",
        "advice": "no parser reads several kinds of one feature: write these records again",
    }
    assert found(faulty) == [("feature_kinds", 20), ("not_finite", 40), ("equal_records", 70)]
    advice = diagnosis["findings"][2]["advice"]
    assert advice == "leave the repeated ones out with `ds.duplicates()`, unless they are meant"


def test_records_of_a_view_are_positions(faulty):
    assert found(faulty[15:45]) == [("feature_kinds", 5), ("not_finite", 25)]
    assert found(faulty.select([70, 40, 3])) == [("not_finite", 1), ("equal_records", 2)]
    assert found(faulty.select([8, 8, 9])) == []
    assert found(faulty[:0]) == [("no_records", None)]


def test_damaged_records_do_not_hide_others(tmp_path):
    """Records are read in groups, and one that is damaged fails all of its group."""
    count, size = 10_000, 16 + 24
    path = tmp_path / "numbers.tfrecord"
    with recmap.Writer(path) as writer:
        for number in range(count):
            writer.write(number.to_bytes(24, "little"))
    damaged = {0, 1, 4095, 4096, 5000, 5002, 8191, 8192, 9999, *range(6000, 6010)}
    data = bytearray(path.read_bytes())
    for number in damaged:
        data[number * size + 12] ^= 1
    times = path.stat()
    with recmap.open(path) as ds:
        path.write_bytes(data)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    with recmap.open(path) as ds:
        diagnosis = ds.doctor()
    assert {f["record"] for f in diagnosis["findings"] if f["check"] == "damage"} == damaged
    assert diagnosis["records_read"] == count - len(damaged)


PICTURE = (ROOT / "tests" / "images" / "rgb.png").read_bytes()


def test_other_records_tell_whether_a_view_has_pictures(tmp_path):
    """Of 64 records of the whole data set, all have pictures; of all records, a tenth."""
    sampled = sample_of(640, 64).tolist()
    values = [PICTURE if i in sampled else b"text %d" % i for i in range(640)]
    values[sampled[2]] = PICTURE[:-20]
    write(tmp_path, [{"x": value} for value in values], name="mixed.tfrecord")
    with recmap.open(tmp_path / "mixed.tfrecord") as ds:
        assert not [check for check, _ in found(ds) if check.startswith("image")]
        assert not [check for check, _ in found(ds[:]) if check.startswith("image")]
        assert ("image_damage", sampled[2]) in found(ds[:-1])


def test_concatenations(faulty, digits):
    assert ("other_records", 0) not in found(recmap.concat([digits, digits[:5]]))
    assert ("equal_records", 1797) in found(recmap.concat([digits, digits[:5]]))


def test_a_sample_and_the_index_alone(faulty):
    assert faulty.doctor(sample=10)["records_read"] == 10
    assert faulty.doctor(index_only=True) == {"findings": [], "records": 100, "records_read": 0}
    with pytest.raises(ValueError, match="sample"):
        faulty.doctor(sample=-1)
    with pytest.raises(ValueError, match="threads"):
        faulty.doctor(threads=-1)


def test_the_number_of_threads_changes_nothing(faulty):
    expected = faulty.doctor(threads=1)
    assert all(faulty.doctor(threads=threads) == expected for threads in (0, 2, 3, 8))


def test_progress_can_stop_it(faulty):
    class Stop(Exception):
        pass

    def stop(*_):
        raise Stop

    with pytest.raises(Stop):
        faulty.doctor(progress=stop)


@pytest.fixture
def prepared(tmp_path):
    write(tmp_path, [record(i) for i in range(30)], name="robot-train.tfrecord-00000-of-00001")
    info = {"name": "robot", "version": "1.0.0", "splits": [{"name": "train"}]}
    info["splits"][0]["shardLengths"] = ["30"]
    (tmp_path / "dataset_info.json").write_text(json.dumps(info))
    return tmp_path, info


def test_opening_a_folder_warns_of_metadata_that_disagrees(prepared):
    folder, info = prepared
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        recmap.open(folder).close()
        recmap.open(folder).close()
    info["splits"][0]["shardLengths"] = ["31"]
    (folder / "dataset_info.json").write_text(json.dumps(info))
    with pytest.warns(UserWarning, match="has 30 records, but dataset_info.json says 31"):
        recmap.open(folder).close()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        recmap.open(folder / "robot-train.tfrecord-00000-of-00001").close()


def test_metadata_that_cannot_be_read_does_not_prevent_opening(prepared):
    folder, _ = prepared
    (folder / "dataset_info.json").write_text("{")
    with pytest.warns(UserWarning, match="not JSON at byte 1"):
        assert len(recmap.open(folder)) == 30
