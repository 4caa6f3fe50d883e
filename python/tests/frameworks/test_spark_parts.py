"""The parts of the data source for Apache Spark that need no session and no Java."""

import os
import pickle
import re
import shutil
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
import recmap
from conftest import DIGITS, flip, write
from object_server import ObjectServer, fail_with
from recmap import _recmap
from recmap._index.build import write_index
from recmap._options.options import IndexOptions

pytest.importorskip("pyarrow")
pytest.importorskip("pyspark.sql.datasource", exc_type=ImportError)

import pyarrow as pa
from recmap.spark import TFRecord
from recmap.spark._settings import Settings

from pyspark.sql import types

INDEX_NAME = "a.rmx"
RECORD = types.StructType([types.StructField("byteArray", types.BinaryType())])
SCORES = types.StructType([types.StructField("score", types.LongType())])


def settings_of(path, **options):
    return Settings({"path": str(path), **options})


def records_read(path, **options):
    """The records that Spark gets, without a session."""
    reader = TFRecord({"path": str(path), "recordType": "ByteArray", **options}).reader(RECORD)
    reader = pickle.loads(pickle.dumps(reader))  # executors get a copy
    batches = [batch for part in reader.partitions() for batch in reader.read(part)]
    return [record for batch in batches for record in batch.column(0).to_pylist()]


def index_elsewhere(tmp_path):
    """An index that names its shard by an absolute path, as one from an untrusted place may."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (tmp_path / "shards").mkdir()
    (shard,) = write(tmp_path / "shards", [b"secret"])
    recmap.index(shard, folder / INDEX_NAME, progress=None)
    return shard, folder / INDEX_NAME


def inferred(path, record_type="Example"):
    schema = TFRecord({"path": str(path), "recordType": record_type}).schema()
    return {field.name: field.dataType.simpleString() for field in schema.fields}


def test_the_schema_has_scalars_only_where_each_value_is_one(tmp_path):
    records = [
        {"one": 1, "some": 1.5, "some or none": ["a"], "many": [1, 2], "none": np.zeros(0, "i8")},
        {"one": 2, "some or none": np.zeros(0, "i8"), "many": [1]},
        {"one": 3, "some or none": ["b"], "many": [1]},
    ]
    del records[1]["some or none"]
    empty = b"\x0a\x14\x0a\x12\x0a\x0csome or none\x12\x02\x0a\x00"  # an empty list of bytes
    write(
        tmp_path, [*map(recmap.encode_example, records), recmap.encode_example(records[0]) + empty]
    )
    expected = {
        "one": "bigint",
        "some": "float",
        "some or none": "array<binary>",
        "many": "array<bigint>",
        "none": "array<bigint>",
    }
    assert inferred(tmp_path) == dict(sorted(expected.items()))
    assert inferred(tmp_path, "SequenceExample") == dict(sorted(expected.items()))


def test_a_schema_without_some_features_is_not_inferred(tmp_path):
    write(tmp_path, [{"a": 1, "b": 1}, {"a": 1.5, "b": 1}])
    with pytest.raises(ValueError, match=r"several kinds, which no column holds: 'a': name the"):
        inferred(tmp_path)
    lists = tmp_path / "lists"
    lists.mkdir()
    write(lists, [recmap.encode_sequence_example({"id": 1}, {"steps": [[1], [2, 3]]})])
    with pytest.raises(ValueError, match=r"have feature lists, 'steps': .* SequenceExample, or"):
        inferred(lists)
    assert inferred(lists, "SequenceExample") == {"id": "bigint", "steps": "array<array<bigint>>"}
    unset = tmp_path / "unset"
    unset.mkdir()
    write(unset, [recmap.encode_example({"a": 1}) + b"\x0a\x07\x0a\x05\x0a\x01b\x12\x00"])
    with pytest.warns(UserWarning, match="without a value in the sample are left out.*: 'b'"):
        assert inferred(unset) == {"a": "bigint"}


@pytest.mark.parametrize("options", [{}, {"allow_urls": "true"}, {"allow_absolute_paths": "false"}])
def test_an_index_of_absolute_paths_is_refused(tmp_path, options):
    _, path = index_elsewhere(tmp_path)
    advice = "if you trust .* files the driver and the executors read, set .*allow_absolute_paths"
    with pytest.raises(recmap.InvalidError, match=f"outside its own folder\n.*{advice}") as caught:
        records_read(path, **options)
    assert caught.value.advice.startswith("load the shards by name, with the index as the option")
    assert 'set .option("allow_absolute_paths", "true")' in caught.value.advice
    with pytest.raises(recmap.InvalidError, match="outside its own folder"):
        TFRecord({"path": str(path), **options}).schema()


def test_an_index_of_absolute_paths_needs_the_option_or_its_shards(tmp_path):
    shard, path = index_elsewhere(tmp_path)
    assert records_read(path, allow_absolute_paths="true") == [b"secret"]
    assert records_read(path, Allow_Absolute_Paths="True") == [b"secret"]
    assert records_read(shard, index=str(path)) == [b"secret"]


def test_an_index_of_other_shards_than_those_of_its_folder_is_refused(tmp_path):
    shard, path = index_elsewhere(tmp_path)
    planted = tmp_path / "folder"
    planted.mkdir()
    write(planted, [b"x"])
    shutil.copy(path, index_of(planted))
    with pytest.raises(recmap.StaleIndexError, match=f"has the shard {shard}"):
        records_read(planted)


def test_executors_refuse_an_index_that_was_replaced(tmp_path):
    shard, path = index_elsewhere(tmp_path)
    reader = TFRecord({"path": str(shard), "index": str(path), "recordType": "ByteArray"})
    pickled = pickle.dumps(reader.reader(RECORD))
    other = tmp_path / "other"
    other.mkdir()
    shutil.copy(shard, other)
    recmap.index(other, tmp_path / "elsewhere" / "b.rmx", progress=None)
    os.rename(tmp_path / "elsewhere" / "b.rmx", path)
    with pytest.raises(recmap.StaleIndexError, match="index has other shards now"):
        pickle.loads(pickled)


def test_a_selection_of_an_index_elsewhere_is_refused(tmp_path):
    _, path = index_elsewhere(tmp_path)
    with recmap.open(path, access=recmap.Reading(allow_absolute_paths=True)) as ds:
        ds[:1].save(tmp_path / "a.rmv")
    with pytest.raises(recmap.InvalidError, match="allow_absolute_paths") as caught:
        records_read(tmp_path / "a.rmv")
    assert caught.value.advice.startswith("if you trust everyone")  # a shard has more records
    found = records_read(tmp_path / "a.rmv", allow_absolute_paths="true")
    assert found == [b"secret"]


def test_an_index_of_urls_needs_the_option_or_its_shards(tmp_path):
    with ObjectServer(DIGITS.parent) as server:
        options = {f"storage.{name}": str(v).lower() for name, v in server.options().items()}
        url, path = f"s3://{DIGITS.name}/digits-*.tfrecord", tmp_path / INDEX_NAME
        recmap.index(url, path, storage=recmap.Storage(options=server.options()), progress=None)
        before = len(server.requests)
        for refused in ({}, {"allow_absolute_paths": "true"}):
            with pytest.raises(recmap.InvalidError, match="in a remote store\n") as caught:
                records_read(path, **options, **refused)
            assert "servers the driver and the executors read" in caught.value.advice
            assert 'set .option("allow_urls", "true")' in caught.value.advice
        assert len(server.requests) == before
        assert len(records_read(path, allow_urls="true", **options)) == 1797
        assert len(records_read(url, index=str(path), **options)) == 1797


def test_the_option_index_is_not_advised_for_an_index_at_a_url(tmp_path):
    """It must be a local file."""
    _, path = index_elsewhere(tmp_path)
    with ObjectServer(tmp_path) as server:
        url = f"{server.url}/elsewhere/{path.name}"
        with pytest.raises(recmap.InvalidError, match="allow_absolute_paths") as caught:
            records_read(url)
        assert caught.value.advice.startswith("if you trust everyone")


@pytest.mark.parametrize("index", ["", "indexes/a.rmx"])
def test_what_the_writer_produces_needs_no_option(tmp_path, index):
    folder = tmp_path / "out"
    (tmp_path / "indexes").mkdir()
    options = {"index": str(tmp_path / index)} if index else {}
    append_rows(folder, SCORES, [{"score": 1}, {"score": 2}], **options)
    assert len(records_read(folder, **options)) == 2
    if not index:
        assert len(records_read(index_of(folder))) == 2


@pytest.mark.parametrize("name", ["allow_urls", "allow_absolute_paths"])
def test_permissions_are_true_or_false(name):
    with pytest.raises(ValueError, match=f"option {name} must be one of true, false, not 'yes'"):
        settings_of("/a", **{name: "yes"})


def append_rows(folder, schema, rows, overwrite=False, **options):
    """Writes the rows as a job of one task does."""
    writer = TFRecord({"path": str(folder), **options}).writer(schema, overwrite)
    arrow = pa.schema([column.field for column in writer.columns])
    batch = pa.RecordBatch.from_pylist(rows, schema=arrow)
    attempt = os.path.join(writer.attempts, "0")
    os.mkdir(attempt)
    writer.commit([writer._write_part(iter([batch]), 0, attempt)])


def index_of(folder):
    """The path of the index that a folder of shards has by default."""
    return Path(_recmap.shards_expand([str(folder)], None, None, False, "auto", True)[1])


def lifted_with_null(path):
    recmap.index(path.parent, path, lift=["score"], missing_values="null", progress=None)


def annotated(path):
    recmap.index(path.parent, path, progress=None)
    with recmap.open(path) as ds:
        ds.annotate({"score": np.arange(2)}, by="number")


def annotated_with_null(path):
    recmap.index(path.parent, path, progress=None)
    with recmap.open(path) as ds:
        ds.annotate({"number": [0], "score": [0]}, by="number")


@pytest.mark.parametrize(
    "build, first",
    [(lifted_with_null, [0, None]), (annotated, [0, 1]), (annotated_with_null, [0, None])],
)
def test_appending_to_an_index_with_nulls(tmp_path, build, first):
    """It gives what recmap.open gives."""
    write(tmp_path, [{"score": [0]}, {"x": [1]}])
    build(index_of(tmp_path))
    x, score = (types.StructField(name, types.LongType()) for name in ("x", "score"))
    append_rows(tmp_path, types.StructType([x]), [{"x": 1}])
    append_rows(tmp_path, types.StructType([x, score]), [{"x": 1, "score": None}, {"score": 7}])
    with recmap.open(index_of(tmp_path)) as ds:
        assert ds.columns["score"][:].tolist() == [*first, None, None, 7]
        assert ds._annotated_columns() == ([] if build is lifted_with_null else ["score"])


def test_appending_needs_the_columns_without_nulls(tmp_path):
    write(tmp_path, [{"score": [0]}])
    recmap.open(tmp_path, lift=["score"]).close()
    with pytest.raises(ValueError, match="the index needs the column 'score'"):
        append_rows(tmp_path, types.StructType([types.StructField("x", types.LongType())]), [])


ROWS = [{"score": 1}, {"score": None}]
NAMED = types.StructType([*SCORES.fields, types.StructField("x", types.LongType())])


def test_missing_values_of_lifted_columns_are_nulls_on_request(tmp_path):
    with pytest.raises(recmap.FeatureError, match='no value of lifted feature "score"'):
        append_rows(tmp_path / "a", SCORES, ROWS, lift="score")
    with pytest.raises(ValueError, match="option missing_values must be one of error, null"):
        append_rows(tmp_path / "a", SCORES, ROWS, lift="score", missing_values="drop")
    append_rows(tmp_path / "b", SCORES, ROWS, lift="score", missing_values="null")
    append_rows(tmp_path / "b", SCORES, ROWS[::-1])
    with recmap.open(index_of(tmp_path / "b")) as ds:
        assert ds.columns["score"].tolist() == [1, None, None, 1]
    path = tmp_path / "again.rmx"
    recmap.index(tmp_path / "b", path, lift=["score"], missing_values="null", progress=None)
    assert (
        recmap.open(path, access=recmap.Reading(allow_absolute_paths=True))
        .columns["score"]
        .mask.sum()
        == 2
    )


def advice_of(call, error=recmap.FeatureError):
    with pytest.raises(error) as caught:
        call()
    assert caught.value.advice in str(caught.value)  # which is all that Spark shows
    return caught.value.advice


def options_in(advice):
    return dict(re.findall(r'\.option\("(\w+)", "([^"]*)"\)', advice))


def run_code(advice):
    """Runs the calls that the advice names."""
    for code in re.findall(r"`(recmap\.[^`]*)`", advice):
        result = eval(code.replace("DEFAULT", "0"), {"recmap": recmap})
        if isinstance(result, recmap.Dataset):
            result.close()


@pytest.mark.parametrize("rows", [ROWS, ROWS[::-1]])
def test_advice_for_nulls_names_options(tmp_path, rows):
    advice = advice_of(lambda: append_rows(tmp_path, SCORES, rows, lift="score"))
    options = options_in(advice)
    assert options == {"lift": "score=DEFAULT", "missing_values": "null"}, advice
    assert "={" not in advice and "missing_values=" not in advice
    append_rows(tmp_path / "a", SCORES, rows, lift=options["lift"].replace("DEFAULT", "0"))
    append_rows(
        tmp_path / "b", SCORES, rows, lift="score", missing_values=options["missing_values"]
    )


@pytest.mark.parametrize("rows", [ROWS, ROWS[::-1]])
@pytest.mark.parametrize("index", [{}, {"index": "a.rmx"}])
def test_advice_for_nulls_that_are_appended_can_be_followed(tmp_path, rows, index):
    first, copy = tmp_path / "first", tmp_path / "copy"
    folder, index = first / "out", {name: str(first / value) for name, value in index.items()}
    append_rows(folder, SCORES, [{"score": 1}], lift="score", **index)
    advice = advice_of(lambda: append_rows(folder, SCORES, rows, **index))
    assert options_in(advice) == {"missing_values": "null"}, advice
    shutil.copytree(first, copy)
    append_rows(folder, SCORES, rows, **index, **options_in(advice))
    run_code(advice.replace(str(first), str(copy)))
    index = {name: value.replace(str(first), str(copy)) for name, value in index.items()}
    append_rows(copy / "out", SCORES, rows, **index)


def test_advice_for_defaults_and_counts_names_options(tmp_path):
    rows = [{"score": 1}]
    advice = advice_of(
        lambda: append_rows(tmp_path / "a", SCORES, rows, lift="score=x"), recmap.InvalidError
    )
    assert options_in(advice) == {"lift": "score=DEFAULT"}
    advice = advice_of(lambda: append_rows(tmp_path / "a", SCORES, rows, count="score:uint16"))
    assert options_in(advice) == {"count": "score"}
    rows = [{"byteArray": b"abc"}]
    advice = advice_of(lambda: append_rows(tmp_path / "a", RECORD, rows, count="byteArray:uint16"))
    assert options_in(advice) == {"count": "byteArray:DTYPE"}
    numbers = types.StructType([types.StructField("x", types.FloatType())])
    advice = advice_of(lambda: append_rows(tmp_path / "a", numbers, [{"x": 1.0}], id="x"))
    assert advice == "choose another feature for the option id"


def test_advice_about_shards_is_a_call_that_can_be_made(tmp_path):
    (tmp_path / "text").write_bytes(b"first\nsecond\n" * 9)
    advice = advice_of(lambda: records_read(tmp_path / "text"), recmap.CorruptRecordError)
    as_lines, _, as_table = advice.partition(", or a table with ")
    run_code(as_table)
    assert records_read(tmp_path / "text") == [b"second", *[b"first", b"second"] * 8]
    run_code(as_lines)
    assert records_read(tmp_path / "text") == [b"first", b"second"] * 9
    (tmp_path / "out").mkdir()
    (shard,) = write(tmp_path / "out", [{"score": i, "x": b"x" * 100} for i in range(9)])
    flip(shard, 300)
    options = {"lift": "score"}
    advice = advice_of(lambda: records_read(shard, **options), recmap.CorruptRecordError)
    with pytest.warns(UserWarning, match="skipped damage"):
        run_code(advice)
    advice = advice_of(lambda: records_read(shard, **options), recmap.CorruptRecordError)
    assert advice.startswith("To read the good records, load the .rmx by its path. If the shard")
    assert len(records_read(index_of(shard), **options)) == 8
    flip(shard, 300)
    run_code(advice)
    assert len(records_read(shard, **options)) == 9


def test_advice_about_types_names_those_of_spark(tmp_path):
    write(tmp_path, [{"score": b"12345678"}])
    reader = TFRecord({"path": str(tmp_path)}).reader(SCORES)
    advice = advice_of(lambda: list(reader.read(reader.partitions()[0])))
    assert advice == "the feature is bytes: use `binary`"


def test_advice_about_another_index_can_be_followed(tmp_path):
    write(tmp_path, [{"score": 1, "x": 2}])
    path = tmp_path / INDEX_NAME
    options = {"index": str(path), "id": "x"}
    recmap.index(tmp_path, path, id="score", progress=None)
    advice = advice_of(lambda: settings_of(tmp_path, **options).open(), recmap.StaleIndexError)
    assert advice.startswith("Load the shards (not the .rmx) with another path as the option index")
    run_code(advice)
    settings_of(tmp_path, index=str(path)).open().close()


def test_advice_about_storage_names_options(tmp_path):
    write(tmp_path, [b"x"])
    with ObjectServer(tmp_path) as server:
        server.faults += [fail_with(403, "AccessDenied")] * 9
        url, index = f"{server.url}/made-0.tfrecord", str(tmp_path / INDEX_NAME)
        advice = advice_of(lambda: records_read(url, index=index), recmap.StorageError)
    assert advice.endswith("pass a newly signed URL as the option storage.urls")


def test_advice_about_a_moved_shard_names_no_option_that_is_missing(tmp_path):
    write(tmp_path, [b"x"])
    recmap.index(tmp_path, tmp_path / INDEX_NAME, progress=None)
    (tmp_path / "made-0.tfrecord").rename(tmp_path / "elsewhere")
    advice = advice_of(lambda: records_read(tmp_path / INDEX_NAME), recmap.FileMissingError)
    assert "Move it back or index the shards again" in advice and "shards=" not in advice


def test_the_shards_of_an_index_are_compared_first(tmp_path):
    """Comparing its contents may read a record of what it names."""
    folder, theirs = tmp_path / "folder", tmp_path / "srv" / "b"
    folder.mkdir()
    theirs.mkdir(parents=True)
    write(folder, [{"score": 1}])
    write(theirs, [{"score": 1}])
    with ObjectServer(tmp_path / "srv") as server:
        url = f"{server.url}/b/made-0.tfrecord"
        # Of an id that no record has, as 0.2.0 built it.
        options = IndexOptions(id="none", progress=None, may_lack_ids=True)
        write_index(index_of(folder), [url], options)
        server.requests.clear()
        before = sorted(folder.iterdir())
        with pytest.raises(recmap.StaleIndexError, match="the index has the shard http") as caught:
            append_rows(folder, SCORES, [{"score": 2}], id="none")
        assert not server.requests and sorted(folder.iterdir()) == before
        assert "or write with mode overwrite" in caught.value.advice
    append_rows(folder, SCORES, [{"score": 2}], overwrite=True)
    assert len(records_read(folder)) == 1


def test_shards_that_the_index_lacks_are_named(tmp_path):
    index = str(tmp_path / INDEX_NAME)
    append_rows(tmp_path, SCORES, [{"score": 1}], lift="score", index=index)
    write(tmp_path, [{"score": 2}], name="part-0001.tfrecord")
    advice = advice_of(
        lambda: append_rows(tmp_path, SCORES, [{"score": 3}], index=index), recmap.StaleIndexError
    )
    run_code(advice)
    append_rows(tmp_path, SCORES, [{"score": 3}], index=index)
    with recmap.open(tmp_path, index=index) as ds:
        assert ds.columns["score"].tolist() == [1, 2, 3]


@pytest.mark.parametrize("name", ["part-r-00000", "train-0.tfrecord", "part-x.tfrecord"])
def test_names_that_would_be_sorted_after_new_ones(tmp_path, name):
    """The index would have its shards in another order than the folder, which nothing opens."""
    write(tmp_path, [{"score": 1}], name=name)
    recmap.open(tmp_path).close()
    before = sorted(tmp_path.iterdir())
    with pytest.raises(ValueError, match=f"cannot append here: .*sorted before {name}. Write to a"):
        append_rows(tmp_path, SCORES, [{"score": 2}])
    assert sorted(tmp_path.iterdir()) == before
    append_rows(tmp_path / "more", SCORES, [{"score": 2}])
    both = Settings({"paths": f'["{tmp_path}", "{tmp_path}/more"]', "index": f"{tmp_path}/b.rmx"})
    with both.open() as ds:
        assert len(ds) == 2


@pytest.mark.parametrize("name", ["made-0.tfrecord", "part-00007", "part-9999-0-x.tfrecord"])
def test_names_that_are_sorted_before_new_ones(tmp_path, name):
    write(tmp_path, [{"score": 1}], name=name)
    recmap.open(tmp_path).close()
    for score in range(2, 12):
        append_rows(tmp_path, SCORES, [{"score": score}])
    with recmap.open(tmp_path) as ds:
        scores = [recmap.decode_example(record)["score"][0] for record in ds]
    assert scores == list(range(1, 12))


def test_columns_whose_type_changed_are_refused_before_tasks_run(tmp_path):
    append_rows(tmp_path, SCORES, [{"score": 1}], lift="score")
    before = sorted(tmp_path.iterdir())
    floats = types.StructType([types.StructField("score", types.DoubleType())])
    with pytest.raises(TypeError, match=r"column 'score' has .* int64: cast it to bigint"):
        append_rows(tmp_path, floats, [])
    assert sorted(tmp_path.iterdir()) == before
    ints = types.StructType([types.StructField("score", types.ShortType())])
    append_rows(tmp_path, ints, [{"score": 2}])
    append_rows(tmp_path / "empty", SCORES, [], lift="score=0")
    append_rows(tmp_path / "empty", floats, [{"score": 0.5}])


@pytest.mark.parametrize("kind", [(2, 1), (1, 1), (38, 38), (8, 2), (10, 0)])
def test_decimals_of_any_precision_may_be_null(tmp_path, kind):
    schema = types.StructType([types.StructField("x", types.DecimalType(*kind))])
    value = Decimal(5).scaleb(-kind[1])
    append_rows(tmp_path, schema, [{"x": None}, {"x": value}])
    reader = TFRecord({"path": str(tmp_path)}).reader(schema)
    (batch,) = [batch for part in reader.partitions() for batch in reader.read(part)]
    null, found = batch.column(0).to_pylist()
    assert null is None and float(found) == pytest.approx(float(value))


def test_a_node_that_lacks_the_folder_is_told(tmp_path):
    writer = TFRecord({"path": str(tmp_path)}).writer(SCORES, overwrite=False)
    os.rmdir(writer.attempts)
    with pytest.raises(FileNotFoundError, match=f"all nodes must see {tmp_path} under the same"):
        writer._new_attempt(7)


def test_an_index_of_other_shards_is_not_replaced_by_appending(tmp_path):
    append_rows(tmp_path / "a", SCORES, [{"score": 1}], index=str(tmp_path / INDEX_NAME))
    before = (tmp_path / INDEX_NAME).read_bytes()
    for folder in (tmp_path / "b", tmp_path):
        with pytest.raises(FileExistsError, match=r"a\.rmx: is the index of other shards"):
            append_rows(folder, SCORES, [{"score": 2}], index=str(tmp_path / INDEX_NAME))
    assert (tmp_path / INDEX_NAME).read_bytes() == before
    append_rows(tmp_path / "b", SCORES, [], overwrite=True, index=str(tmp_path / INDEX_NAME))


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_broken_link_is_not_taken_for_an_empty_folder(tmp_path, overwrite):
    append_rows(tmp_path, SCORES, [{"score": 1}])
    (tmp_path / "made.tfrecord").symlink_to("elsewhere")
    before = sorted(tmp_path.iterdir())
    with pytest.raises(recmap.FileMissingError, match="the link is broken"):
        append_rows(tmp_path, SCORES, [{"score": 2}], overwrite=overwrite)
    assert [path for path in sorted(tmp_path.iterdir()) if path.name[0] != "."] == before


def test_overwriting_removes_both_indexes_of_old_shards(tmp_path):
    folder, index = tmp_path / "out", str(tmp_path / INDEX_NAME)
    append_rows(folder, SCORES, [{"score": 1}])
    append_rows(folder, SCORES, [{"score": 2}], overwrite=True, index=index)
    assert [path.suffix for path in folder.iterdir()] == [".tfrecord"]
    assert len(records_read(folder, index=index)) == len(records_read(folder)) == 1
    append_rows(folder, SCORES, [{"score": 3}], overwrite=True)
    assert len(records_read(folder)) == 1


def test_tasks_read_only_their_range_of_columns(tmp_path, monkeypatch):
    """All values of a column may need more memory than an executor has."""
    write(tmp_path, [{"score": i, "x": b"y" * i} for i in range(20)])
    with settings_of(tmp_path).open() as ds:
        size = sum(len(record) for record in ds)
    monkeypatch.setattr("recmap._dataset.lifted.Columns.__getitem__", None)
    monkeypatch.setattr("recmap.spark._reader._CHUNK_ROWS", 7)
    monkeypatch.setattr("recmap.spark._reader._PARTITION_SIZE", 200)
    for options, count in ({}, size // 200), ({"partitions": "6"}, 6):
        reader = TFRecord({"path": str(tmp_path), **options}).reader(SCORES)
        parts = reader.partitions()
        assert len(parts) == count
        batches = [batch for part in parts for batch in reader.read(part)]
        found = [score for batch in batches for score in batch.column(0).to_pylist()]
        assert found == list(range(20))


def test_missing_values_in_what_is_appended(tmp_path):
    """As with recmap.open: only on request, if the column has no nulls yet."""
    append_rows(tmp_path, NAMED, [{"score": 1, "x": 2}], lift="score,x=0")
    with pytest.raises(recmap.FeatureError, match='no value of lifted feature "score"'):
        append_rows(tmp_path, NAMED, ROWS)
    append_rows(tmp_path, NAMED, ROWS, missing_values="null")
    with recmap.open(index_of(tmp_path)) as ds:
        assert ds.columns["score"].tolist() == [1, 1, None]
        assert ds.columns["x"].tolist() == [2, 0, 0]


def test_nulls_need_lifted_columns(tmp_path):
    with pytest.raises(ValueError, match='missing_values is "null", which is about lifted columns'):
        append_rows(tmp_path, SCORES, ROWS, missing_values="null")
    assert not list(tmp_path.iterdir())
    append_rows(tmp_path, SCORES, ROWS)
    with pytest.raises(
        ValueError, match='missing_values is "null", but the index has no lifted columns'
    ):
        append_rows(tmp_path, SCORES, ROWS, missing_values="null")
    with pytest.raises(
        ValueError, match='missing_values is "null", but the index has no lifted columns'
    ):
        settings_of(tmp_path, missing_values="null").open()


def test_a_misspelt_lift_is_refused_also_if_values_may_be_missing(tmp_path):
    with pytest.raises(ValueError, match=r"the column 'scoer' \(option lift\)"):
        append_rows(tmp_path / "a", SCORES, ROWS, lift="scoer", missing_values="null")


def test_reading_indexes_with_nulls_on_request(tmp_path):
    write(tmp_path, [{"score": 1}, {"x": 2}])
    options = {"lift": "score", "index": str(tmp_path / INDEX_NAME)}
    with pytest.raises(recmap.FeatureError, match='no value of lifted feature "score"'):
        settings_of(tmp_path, **options).open()
    with settings_of(tmp_path, **options, missing_values="null").open() as ds:
        assert ds.columns["score"].tolist() == [1, None]


def test_defaults_of_lifted_columns():
    options = settings_of("/a", lift="age=0, lang=,score", count="tokens:uint16,image")
    assert options.lift == {"age": "0", "lang": "", "score": None}
    assert options.count == {"tokens": "uint16", "image": None}


@pytest.mark.parametrize("is_writing", [False, True])
def test_a_count_without_a_type_after_its_colon_is_refused(tmp_path, is_writing):
    path = tmp_path / "out" if is_writing else DIGITS
    source = TFRecord({"path": str(path), "count": "tokens:"})
    message = "the dtype '' of the counted feature 'tokens' is not a type of numbers"
    with pytest.raises(ValueError, match=message):
        source.writer(SCORES, overwrite=False) if is_writing else source.reader(SCORES)
    with pytest.raises(ValueError, match=message):
        recmap.index(DIGITS, tmp_path / INDEX_NAME, count={"tokens": ""})
    assert not list(tmp_path.iterdir())


def test_an_empty_default_is_one(tmp_path):
    write(tmp_path, [{"lang": b"de"}, {"x": 1}])
    shard = tmp_path / "made-0.tfrecord"
    with settings_of(shard, lift="lang=", index=str(tmp_path / INDEX_NAME)).open() as ds:
        assert ds._lifts() == (("lang", ""),)
        assert list(ds.columns["lang"]) == [b"de", b""]


@pytest.mark.parametrize("path", ["file:/data/a", "file:///data/a", "/data/a"])
def test_paths_of_files(path):
    assert settings_of(path).paths == ["/data/a"]


@pytest.mark.parametrize(
    "path, message",
    [
        ("hdfs:/a", "hdfs:/a: pass a path that all nodes see, or a URL .* s3://, gs://, az://"),
        ("dbfs:/a", "webhdfs://"),
        ("file://host/a", "file://host/a: names a host"),
        ("file://localhost/a", "file:///PATH"),
    ],
)
def test_paths_that_recmap_cannot_read_are_refused(path, message):
    with pytest.raises(ValueError, match=message):
        settings_of(path)


@pytest.mark.parametrize("paths", ['["s3://bucket/a"]', '["hdfs://host/a"]', '["/a", "/b"]'])
def test_writing_needs_one_folder(paths):
    schema = types.StructType([types.StructField("x", types.LongType())])
    with pytest.raises(ValueError, match="cannot write here: pass one folder that all nodes can"):
        TFRecord({"paths": paths}).writer(schema, overwrite=False)


def test_one_of_several_sets(tmp_path):
    for split, records in ("train", [b"a", b"b"]), ("test", [b"c"]):
        write(tmp_path, records, 1, f"m-{split}@1.tfrecord")
    with pytest.raises(recmap.InvalidError, match="the folder has 2 sets of shards") as caught:
        records_read(tmp_path)
    assert "split" in caught.value.advice
    assert records_read(tmp_path, split="train") == [b"a", b"b"]
    assert records_read(tmp_path / "m-test@1.tfrecord") == [b"c"]
    assert records_read(tmp_path, sets="all") == [b"c", b"a", b"b"]
