"""The parts of the data source for Apache Spark that need no session and no Java."""

import os
import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest
import recmap
from conftest import DIGITS, write
from object_server import ObjectServer
from recmap import _recmap

pytest.importorskip("pyarrow")
pytest.importorskip("pyspark.sql.datasource", exc_type=ImportError)

import pyarrow as pa
from recmap.spark import TFRecord
from recmap.spark._settings import Settings

from pyspark.sql import datasource as sources
from pyspark.sql import types

INDEX_NAME = "a.rmx"
RECORD = types.StructType([types.StructField("byteArray", types.BinaryType())])
SCORES = types.StructType([types.StructField("score", types.LongType())])


def settings_of(path, **options):
    return Settings({"path": str(path), **options})


def scores(tmp_path, **options):
    """The index of ten records with the scores 0 to 9."""
    write(tmp_path, [{"score": [i]} for i in range(10)])
    path = tmp_path / INDEX_NAME
    recmap.index(tmp_path / "made-0.tfrecord", path, progress=None, **options)
    return path


def scores_read(path, *filters):
    """The scores that Spark gets after it has pushed the filters down."""
    reader = TFRecord({"path": str(path), "lift": "score"}).reader(SCORES)
    assert list(reader.pushFilters(list(filters))) == list(filters)  # Spark evaluates all again
    batches = [batch for part in reader.partitions() for batch in reader.read(part)]
    return [score for batch in batches for score in batch.column(0).to_pylist()]


def test_filters_on_lifted_columns_leave_records_out(tmp_path):
    path = scores(tmp_path, lift=["score"])
    assert scores_read(path, sources.GreaterThan(("score",), 5)) == [6, 7, 8, 9]


def test_filters_on_annotated_columns_leave_no_record_out(tmp_path):
    """Spark reads the values of the records, which the annotated ones may differ from."""
    path = scores(tmp_path)
    with recmap.open(path) as ds:
        ds.annotate({"score": np.zeros(10, np.int64)}, on="number")
    for filter_ in (
        sources.GreaterThan(("score",), 5),
        sources.Not(sources.EqualTo(("score",), 0)),
        sources.In(("score",), (7, 8)),
    ):
        assert scores_read(path, filter_) == list(range(10))


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
    with recmap.open(path, allow_absolute_paths=True) as ds:
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
        recmap.index(url, path, storage_options=server.options(), progress=None)
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


def append_rows(folder, schema, rows, **options):
    """Writes the rows as a job of one task does."""
    writer = TFRecord({"path": str(folder), **options}).writer(schema, overwrite=False)
    arrow = pa.schema([column.field for column in writer.columns])
    batch = pa.RecordBatch.from_pylist(rows, schema=arrow)
    attempt = os.path.join(writer.attempts, "0")
    os.mkdir(attempt)
    writer.commit([writer._write_part(iter([batch]), 0, attempt)])


def index_of(folder):
    """The path of the index that a folder of shards has by default."""
    return Path(_recmap.shards_expand([str(folder)], None)[1])


def lifted_with_null(path):
    recmap.index(path.parent, path, lift=["score"], missing="null", progress=None)


def annotated(path):
    recmap.index(path.parent, path, progress=None)
    with recmap.open(path) as ds:
        ds.annotate({"score": np.arange(2)}, on="number")


def annotated_with_null(path):
    recmap.index(path.parent, path, progress=None)
    with recmap.open(path) as ds:
        ds.annotate({"number": [0], "score": [0]}, on="number")


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
    recmap.open(tmp_path, lift=["score"], progress=None).close()
    with pytest.raises(ValueError, match="the index needs the column 'score'"):
        append_rows(tmp_path, types.StructType([types.StructField("x", types.LongType())]), [])


ROWS = [{"score": 1}, {"score": None}]
NAMED = types.StructType([*SCORES.fields, types.StructField("x", types.LongType())])


def test_missing_values_of_lifted_columns_are_nulls_on_request(tmp_path):
    with pytest.raises(recmap.FeatureError, match='no value of lifted feature "score"'):
        append_rows(tmp_path / "a", SCORES, ROWS, lift="score")
    with pytest.raises(ValueError, match="option missing must be one of error, null, not 'drop'"):
        append_rows(tmp_path / "a", SCORES, ROWS, lift="score", missing="drop")
    append_rows(tmp_path / "b", SCORES, ROWS, lift="score", missing="null")
    append_rows(tmp_path / "b", SCORES, ROWS[::-1])
    with recmap.open(index_of(tmp_path / "b")) as ds:
        assert ds.columns["score"].tolist() == [1, None, None, 1]
    path = tmp_path / "again.rmx"
    recmap.index(tmp_path / "b", path, lift=["score"], missing="null", progress=None)
    assert recmap.open(path, allow_absolute_paths=True).columns["score"].mask.sum() == 2


def test_missing_values_in_what_is_appended(tmp_path):
    """As with recmap.open: only on request, if the column has no nulls yet."""
    append_rows(tmp_path, NAMED, [{"score": 1, "x": 2}], lift="score,x=0")
    with pytest.raises(recmap.FeatureError, match='no value of lifted feature "score"'):
        append_rows(tmp_path, NAMED, ROWS)
    append_rows(tmp_path, NAMED, ROWS, missing="null")
    with recmap.open(index_of(tmp_path)) as ds:
        assert ds.columns["score"].tolist() == [1, 1, None]
        assert ds.columns["x"].tolist() == [2, 0, 0]


def test_nulls_need_lifted_columns(tmp_path):
    with pytest.raises(ValueError, match=r'missing="null" needs lift=: it is about records'):
        append_rows(tmp_path, SCORES, ROWS, missing="null")
    assert not list(tmp_path.iterdir())
    append_rows(tmp_path, SCORES, ROWS)
    with pytest.raises(ValueError, match=r'missing="null" needs lifted columns, and the index has'):
        append_rows(tmp_path, SCORES, ROWS, missing="null")
    with pytest.raises(ValueError, match=r'missing="null" needs lifted columns, and the index has'):
        settings_of(tmp_path, missing="null").open()


def test_a_misspelt_lift_is_refused_also_if_values_may_be_missing(tmp_path):
    with pytest.raises(ValueError, match=r"the column 'scoer' \(option lift\)"):
        append_rows(tmp_path / "a", SCORES, ROWS, lift="scoer", missing="null")


def test_reading_indexes_with_nulls_on_request(tmp_path):
    write(tmp_path, [{"score": 1}, {"x": 2}])
    options = {"lift": "score", "index": str(tmp_path / INDEX_NAME)}
    with pytest.raises(recmap.FeatureError, match='no value of lifted feature "score"'):
        settings_of(tmp_path, **options).open()
    with settings_of(tmp_path, **options, missing="null").open() as ds:
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
