"""The data source for Apache Spark, with a real Spark of two executors on this machine. Needs the
package pyspark and Java, and takes minutes: it runs with RECMAP_TEST_LONG=1."""

import os
import random
import re
import shutil
import sys
import warnings
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
import recmap
from conftest import DIGITS, ROOT, write

pytest.importorskip("pyarrow")
pytest.importorskip("pyspark.sql.datasource", exc_type=ImportError)
if os.environ.get("RECMAP_TEST_LONG") != "1":
    pytest.skip("it takes minutes: set RECMAP_TEST_LONG=1", allow_module_level=True)
if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
    pytest.skip("there is no Java", allow_module_level=True)

import recmap.spark
from object_server import ObjectServer, records_of

from pyspark.sql import SparkSession, functions, types


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    folder = os.path.dirname(recmap.__path__[0])
    here = Path(__file__).parent  # executors import this file, and what it imports
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("PYTHONPATH", os.pathsep.join([folder, str(here), str(here.parent)]))
        session = (
            SparkSession.builder.master("local-cluster[2,1,1024]")
            .appName("recmap")
            .config("spark.ui.enabled", "false")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.executorEnv.PYTHONPATH", os.environ["PYTHONPATH"])
            .config("spark.executor.memory", "512m")
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse")))
            .config("spark.sql.python.filterPushdown.enabled", "true")
            .getOrCreate()
        )
        session.sparkContext.setLogLevel("OFF")
        session.dataSource.register(recmap.spark.TFRecord)
        yield session
        session.stop()


def reader(spark, **options):
    return spark.read.format("recmap").options(**options)


def save(frame, folder, mode="append", **options):
    frame.write.format("recmap").mode(mode).options(**options).save(str(folder))
    return folder


def names_in(folder):
    return sorted(os.listdir(folder))


def rows_of(frame):
    return [row.asDict() for row in frame.collect()]


def random_schema_and_rows(seed):
    """All types, with nulls, empty arrays, and the limits of each type."""
    choose = random.Random(seed)
    values = {
        "long": lambda: choose.choice([0, -1, 2**63 - 1, -(2**63), choose.randrange(1 << 40)]),
        "int": lambda: choose.choice([0, 2**31 - 1, -(2**31), choose.randrange(1000)]),
        "smallint": lambda: choose.choice([-(2**15), 2**15 - 1, 3]),
        "tinyint": lambda: choose.choice([-128, 127, 0]),
        "boolean": lambda: choose.random() < 0.5,
        "float": lambda: choose.choice([0.0, -1.5, float("inf"), 2.0**-140, 3.0]),
        "double": lambda: choose.choice([0.0, 0.25, -1e9, 1.0]),
        "decimal(8,2)": lambda: __import__("decimal").Decimal(choose.randrange(1000)) / 4,
        "string": lambda: choose.choice(["", "héllo", "a" * 300, "\U0001f600"]),
        "binary": lambda: choose.randbytes(choose.randrange(20)),
    }

    def maybe(make):
        return None if choose.random() < 0.2 else make()

    def some(make):
        return [make() for _ in range(choose.randrange(4))]

    columns, makers = [], []
    for kind, make in values.items():
        name = kind.split("(")[0]
        columns += [f"`{name}` {kind}", f"`{name}s` array<{kind}>"]
        makers += [make, lambda make=make: some(make)]
    rows = [tuple(maybe(make) for make in makers) for _ in range(60)]
    nested = [f"`{kind.split('(')[0]}_steps` array<array<{kind}>>" for kind in values]
    steps = [
        tuple(
            maybe(lambda make=make: some(lambda make=make: some(make))) for make in values.values()
        )
        for _ in range(60)
    ]
    return ", ".join(columns), rows, ", ".join(nested), steps


@pytest.mark.parametrize("seed", [1, 2])
def test_every_type_survives_a_round_trip(spark, tmp_path, seed):
    columns, rows, nested, steps = random_schema_and_rows(seed)
    both = f"n long, {columns}, {nested}"
    numbered = [(i, *a, *b) for i, (a, b) in enumerate(zip(rows, steps, strict=True))]
    frame = spark.createDataFrame(numbered, both).repartition(3, "n")
    save(frame, tmp_path / "out", recordType="SequenceExample")
    back = reader(spark, recordType="SequenceExample").schema(both).load(str(tmp_path / "out"))
    assert rows_of(back.orderBy("n")) == rows_of(frame.orderBy("n"))
    examples = spark.createDataFrame([(i, *a) for i, a in enumerate(rows)], f"n long, {columns}")
    save(examples, tmp_path / "examples")
    back = reader(spark).schema(f"n long, {columns}").load(str(tmp_path / "examples"))
    assert rows_of(back.orderBy("n")) == rows_of(examples.orderBy("n"))


def frame_of(spark, count=1000, partitions=4):
    return spark.range(count, numPartitions=partitions).select(
        functions.col("id").alias("n"),
        functions.concat(functions.lit("user-"), functions.col("id")).alias("user_id"),
        (functions.col("id") % 10).cast("int").alias("label"),
        (functions.col("id") / 4).cast("float").alias("weight"),
        functions.array(functions.col("id"), functions.col("id") + 1).alias("pair"),
    )


@pytest.fixture(scope="module")
def written(spark, tmp_path_factory):
    folder = tmp_path_factory.mktemp("written") / "out"
    return save(frame_of(spark), folder, id="user_id", lift="label,weight")


def test_the_merged_index_is_that_of_one_build(written):
    (index,) = written.glob("*.rmx")
    assert names_in(written) == sorted([index.name, *(s.name for s in written.glob("*.tfrecord"))])
    again = written / "again.rmx"
    recmap.index(written, again, id="user_id", lift=["label", "weight"], progress=None)
    try:
        assert again.read_bytes() == index.read_bytes()
    finally:
        again.unlink()
    with recmap.open(written, id="user_id", lift=["label", "weight"]) as ds:
        assert Path(ds.index_path) == index
        assert len(ds) == 1000
        assert recmap.decode_example(ds[ds.find("user-77")])["pair"].tolist() == [77, 78]


def test_tensorflow_reads_what_spark_writes(spark, written):
    tf = pytest.importorskip("tensorflow")
    found = {}
    for shard in sorted(map(str, written.glob("*.tfrecord"))):
        for record in tf.data.TFRecordDataset(shard).as_numpy_iterator():
            feature = tf.train.Example.FromString(record).features.feature
            number = feature["n"].int64_list.value[0]
            found[number] = (
                feature["user_id"].bytes_list.value[0].decode(),
                feature["label"].int64_list.value[0],
                feature["weight"].float_list.value[0],
                list(feature["pair"].int64_list.value),
            )
    rows = frame_of(spark).collect()
    assert found == {row.n: (row.user_id, row.label, row.weight, row.pair) for row in rows}


def test_reads_what_tensorflow_writes(spark, tmp_path):
    tf = pytest.importorskip("tensorflow")
    train = tf.train
    with tf.io.TFRecordWriter(str(tmp_path / "a.tfrecord")) as out:
        for i in range(20):
            features = {
                "i": train.Feature(int64_list=train.Int64List(value=[i])),
                "f": train.Feature(float_list=train.FloatList(value=[i / 2, 1])),
                "b": train.Feature(bytes_list=train.BytesList(value=[b"x" * i])),
            }
            example = train.Example(features=train.Features(feature=features))
            out.write(example.SerializeToString())
    frame = reader(spark).load(str(tmp_path / "a.tfrecord"))
    assert frame.schema.simpleString() == "struct<b:binary,f:array<float>,i:bigint>"
    assert rows_of(frame.orderBy("i")) == [
        {"i": i, "f": [i / 2, 1.0], "b": bytearray(b"x" * i)} for i in range(20)
    ]


def test_partitions_have_equal_numbers_of_records(spark, digits_index):
    frame = reader(spark, partitions="7", index=str(digits_index)).load(str(DIGITS))
    sizes = [
        row.n
        for row in frame.groupBy(functions.spark_partition_id())
        .agg(functions.count("*").alias("n"))
        .collect()
    ]
    assert len(sizes) == 7 and sum(sizes) == 1797 and max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize(
    "condition",
    [
        "label = 3",
        "label <> 3",
        "label > 3 and label <= 7",
        "label in (1, 5, 99)",
        "weight >= 100 and weight < 101.5",
        "label = 3 or weight < 1",
        "label is null",
        "label > 100",
        "user_id = 'user-12'",
        "weight = cast('nan' as float)",
        "label > 2.5",
        "not (label in (1, 2))",
    ],
)
def test_filters_give_what_spark_alone_gives(spark, written, condition):
    options = {"id": "user_id", "lift": "label,weight"}
    frame = (
        reader(spark, **options)
        .schema("n long, user_id string, label int, weight float")
        .load(str(written))
    )
    expected = frame_of(spark).where(condition).select("n").orderBy("n").collect()
    assert frame.where(condition).select("n").orderBy("n").collect() == expected


def test_queries_of_one_frame_do_not_depend_on_each_other(spark, written):
    """Spark would keep the filters that one query pushes down for all others."""
    options = {"id": "user_id", "lift": "label,weight"}
    frame = reader(spark, **options).schema("n long, label int").load(str(written))
    assert frame.where("label = 3").count() == 100 and frame.count() == 1000
    both = frame.where("label = 3").union(frame.where("label = 4")).collect()
    assert sorted(row.label for row in both) == [3] * 100 + [4] * 100
    assert frame.where("label = 3 and n < 100").crossJoin(frame).count() == 10_000


@pytest.mark.parametrize(
    ("expression", "condition"),
    [
        ("label == 3", "label = 3"),
        ("label > 3 and label <= 7 or weight < 1", "label > 3 and label <= 7 or weight < 1"),
        ("not label in (1, 2)", "not (label in (1, 2))"),
        ("length > 0", "true"),
        ("label > 100", "false"),
    ],
)
def test_where_reads_what_spark_would_keep(spark, written, expression, condition):
    frame = (
        reader(spark, where=expression, partitions="3")
        .schema("n long, user_id string, label int, weight float")
        .load(str(next(written.glob("*.rmx"))))
    )
    expected = frame_of(spark).where(condition).select("n").orderBy("n").collect()
    assert frame.select("n").orderBy("n").collect() == expected
    assert frame.where("n < 500").count() == sum(row.n < 500 for row in expected)
    assert frame.count() == len(expected)


def test_where_selects_within_a_selection_and_leaves_nulls_out(spark, tmp_path):
    rows = spark.range(40, numPartitions=1).selectExpr("id", "if(id % 4 = 0, null, id % 4) as part")
    folder = save(rows, tmp_path / "o", lift="part", missing_values="null")
    with recmap.open(next(folder.glob("*.rmx"))) as ds:
        ds[5:].save(folder / "late.rmv")
    frame = reader(spark, where="part != 1").schema("id long").load(str(folder / "late.rmv"))
    assert [row.id for row in frame.collect()] == [i for i in range(5, 40) if i % 4 in (2, 3)]


def test_where_of_a_pattern_of_names(spark, written):
    options = {"id": "user_id", "lift": "label,weight", "where": "label == 3"}
    frame = reader(spark, **options).schema("n long").load(str(written / "*.tfrecord"))
    assert sorted(row.n for row in frame.collect()) == list(range(3, 1000, 10))


def test_where_of_whole_records(spark, written):
    path = str(next(written.glob("*.rmx")))
    frame = reader(spark, where="label == 3", recordType="ByteArray").load(path)
    examples = [recmap.decode_example(bytes(row.byteArray)) for row in frame.collect()]
    assert sorted(int(example["n"][0]) for example in examples) == list(range(3, 1000, 10))
    frame = reader(spark, where="label > 100", recordType="ByteArray").load(path)
    assert frame.count() == 0


def test_where_of_sequence_examples(spark, tmp_path):
    rows = spark.range(40).selectExpr("id", "id % 4 as part", "array(array(id), array()) as steps")
    save(rows, tmp_path / "o", lift="part", recordType="SequenceExample")
    path = str(next((tmp_path / "o").glob("*.rmx")))
    frame = reader(spark, where="part == 3", recordType="SequenceExample")
    frame = frame.schema("id long, steps array<array<long>>").load(path)
    expected = [(i, [[i], []]) for i in range(3, 40, 4)]
    assert sorted((row.id, row.steps) for row in frame.collect()) == expected


def test_tasks_get_only_the_positions_of_where(written):
    """The other records are not read, and no task evaluates the expression."""
    options = {"path": str(next(written.glob("*.rmx"))), "where": "label == 3", "partitions": "4"}
    source = recmap.spark.TFRecord(options)
    parts = source.reader(types.StructType.fromDDL("n long")).partitions()
    assert [len(part.positions) for part in parts] == [25] * 4
    with recmap.open(options["path"]) as ds:
        numbers = ds.where("label == 3").numbers
    assert np.array_equal(np.concatenate([part.positions for part in parts]), numbers)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("lable == 3", "did you mean 'label'"),
        ("label ==", "character 9: the expression ends where a column or a value is missing"),
        ("n == 3", r"if the records have it, `recmap\.open\('.*\.rmx'\)\.lift\(\[\"n\"\]\)` adds"),
        ("label == 'x'", "`label`: text and numbers cannot be compared"),
    ],
)
def test_wrong_expressions_are_named(spark, written, expression, message):
    path = str(next(written.glob("*.rmx")))
    with pytest.raises(Exception, match=message):
        reader(spark, where=expression).schema("n long").load(path).count()


def test_where_is_for_reading(spark, tmp_path):
    with pytest.raises(Exception, match="the option where is for reading"):
        save(spark.range(3), tmp_path / "o", where="id > 1")
    assert not (tmp_path / "o").exists()


def test_filters_compare_floats_as_spark_does(spark, tmp_path):
    """As doubles: the float 0.1 is greater than the double 0.1."""
    folder = save(
        spark.range(2).selectExpr("cast(0.1 as float) as x", "id"), tmp_path / "o", lift="x"
    )
    frame = reader(spark, lift="x").schema("x double, id long").load(str(folder))
    assert frame.where("x > 0.1").count() == 2
    assert frame.where("x = 0.1").count() == 0


def test_a_session_that_pushes_no_filters(spark, written):
    """The default of Spark."""
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "false")
    try:
        frame = reader(spark, lift="label").schema("label int").load(str(written))
        assert frame.where("label = 3").count() == 100
    finally:
        spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")


def test_paths_in_the_spellings_of_spark(spark, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first, second = tmp_path / "a b", tmp_path / "second"
    save(frame_of(spark, 6, 1), f"file:{first}")
    save(frame_of(spark, 4, 1), f"file://{second}")
    assert reader(spark).load(f"file:{first}").count() == 6
    both = reader(spark, index=str(tmp_path / "both.rmx")).load([f"file://{first}", str(second)])
    assert both.count() == 10
    for path in ("dbfs:/data/out", "hdfs://name/data/out"):
        with pytest.raises(Exception, match="all nodes"):
            save(frame_of(spark, 1, 1), path)
    assert names_in(tmp_path) == ["a b", "both.rmx", "second"]


def test_names_with_spaces_and_special_characters(spark, tmp_path):
    folder, column = tmp_path / "a b%20c [1] é#x@2", "la bel%20.é"
    frame = frame_of(spark, 20, 2).withColumnRenamed("label", column)
    for _ in range(2):
        save(frame, folder, id="user_id", lift=column)
        options = {"id": "user_id", "lift": column}
        back = reader(spark, **options).schema(f"n long, `{column}` int").load(str(folder))
        assert sorted(row[1] for row in back.where(f"`{column}` = 3").collect()) == [3] * (
            back.count() // 10
        )
    assert back.count() == 40 and names_in(tmp_path) == [folder.name]
    save(frame, f"file://{folder}", mode="overwrite")
    assert reader(spark).load(f"file:{folder}").count() == 20


def test_decimals_and_the_advice_for_nulls(spark, tmp_path):
    frame = spark.sql("select cast(if(id = 1, null, 0.5) as decimal(2, 2)) as d, id from range(3)")
    folder = save(frame.coalesce(1), tmp_path / "out")
    back = reader(spark).schema("d decimal(2, 2), id long").load(str(folder))
    assert back.orderBy("id").collect() == frame.orderBy("id").collect()
    with pytest.raises(Exception, match=r'with `.option\("missing_values", "null"\)`') as caught:
        save(frame.coalesce(1), tmp_path / "b", lift="d")
    assert '.option("lift", "d=DEFAULT")' in str(caught.value)
    save(frame.coalesce(1), tmp_path / "b", lift="d", missing_values="null")


def test_columns_that_are_never_null(spark, tmp_path):
    frame = spark.range(20).selectExpr("id", "array(id, 1L) as l", "array(array(id)) as ll")
    assert not frame.schema["id"].nullable and not frame.schema["l"].dataType.containsNull
    folder = save(frame, tmp_path / "out", recordType="SequenceExample")
    back = reader(spark, recordType="SequenceExample").schema(frame.schema).load(str(folder))
    assert back.orderBy("id").collect() == frame.collect()
    renamed = frame.withColumnRenamed("id", "other").schema
    with pytest.raises(Exception, match="column 'other': record 0 has no such feature"):
        reader(spark, recordType="SequenceExample").schema(renamed).load(str(folder)).collect()


def test_records_without_features_need_a_schema(spark, tmp_path):
    frame = spark.sql("select array(array(1)) as l")
    folder = save(frame, tmp_path / "out", recordType="SequenceExample")
    with pytest.raises(Exception, match="another recordType than Example"):
        reader(spark).load(str(folder))


def test_what_is_appended_is_indexed_like_the_rest(spark, tmp_path):
    folder = save(frame_of(spark, 10, 1), tmp_path / "out", id="user_id", lift="label=7,weight")
    save(frame_of(spark, 5, 1).drop("label"), folder)
    with recmap.open(folder, id="user_id", lift={"label": 7, "weight": None}) as ds:
        assert len(ds.find_all("user-3")) == 2
        assert list(ds.columns["label"][10:]) == [7] * 5
    before = names_in(folder)
    frame = frame_of(spark, 5, 1)
    failing = frame.mapInArrow(fail_in_the_middle, frame.schema)  # it must not even start
    for options, message in [
        ({"id": "n"}, "ids of the feature 'user_id', but ids of 'n'"),
        ({"lift": "n"}, "no column 'n'"),
        ({"count": "pair"}, "no element counts of 'pair'"),
    ]:
        with pytest.raises(Exception, match=message):
            save(failing, folder, **options)
    with pytest.raises(Exception, match=r"needs the column 'weight' \(option lift\)"):
        save(failing.drop("weight"), folder)
    assert names_in(folder) == before


@pytest.mark.parametrize("option", ["id", "lift", "count"])
def test_options_that_name_no_column(spark, tmp_path, option):
    with pytest.raises(Exception, match=rf"the column 'labl' \(option {option}\); the columns are"):
        save(frame_of(spark, 5, 1), tmp_path / "out", **{option: "labl"})
    assert not (tmp_path / "out").exists()


def test_nulls_of_a_lifted_column_need_a_default(spark, tmp_path):
    frame = spark.sql("select if(id = 1, null, id) as x, array('a', 'b') as l from range(3)")
    frame = frame.coalesce(1)
    with pytest.raises(Exception, match='no value of lifted feature "x"'):
        save(frame, tmp_path / "out", lift="x")
    folder = save(frame, tmp_path / "out", lift="x=-1", count="l")
    with recmap.open(folder) as ds:
        assert list(ds.columns["x"]) == [0, -1, 2] and list(ds.counts["l"]) == [2, 2, 2]
    assert [row.x for row in reader(spark).load(str(folder)).collect()] == [0, None, 2]


def test_append_and_overwrite(spark, tmp_path):
    folder = tmp_path / "out"
    save(frame_of(spark, 10, 1), folder, id="user_id")
    save(frame_of(spark, 5, 2), folder, id="user_id")
    assert reader(spark).load(str(folder)).count() == 15
    assert len(list(folder.glob("*.rmx"))) == 1
    with recmap.open(folder, id="user_id") as ds:
        assert len(ds.find_all("user-3")) == 2
    save(frame_of(spark, 7, 2), folder, mode="overwrite", lift="label")
    assert reader(spark).load(str(folder)).count() == 7
    assert len(list(folder.glob("*.rmx"))) == 1 and len(list(folder.glob("*.tfrecord"))) == 2
    save(reader(spark).schema("n long").load(str(folder)), folder, mode="overwrite")
    assert reader(spark).load(str(folder)).count() == 7
    assert not list(folder.glob(".*"))


def test_an_empty_frame_gives_an_empty_shard(spark, tmp_path):
    folder = save(frame_of(spark, 0, 3), tmp_path / "out", id="user_id")
    assert reader(spark).schema("n long").load(str(folder)).count() == 0
    save(frame_of(spark, 0, 3), folder, id="user_id")
    assert len(list(folder.glob("*.tfrecord"))) == 1


def test_gzip_shards_are_written_and_read(spark, tmp_path):
    folder = save(frame_of(spark, 100, 2), tmp_path / "out", compression="gzip", id="user_id")
    assert all(name.endswith((".gz", ".rmx")) for name in names_in(folder))
    assert reader(spark).load(str(folder)).count() == 100
    with recmap.open(folder, id="user_id") as ds:
        assert recmap.decode_example(ds[ds.find("user-42")])["n"] == [42]


def test_byte_arrays_are_read(spark, tmp_path, payloads):
    write(tmp_path, payloads)
    frame = reader(spark, recordType="ByteArray", partitions="3").load(str(tmp_path))
    assert sorted(bytes(row.byteArray) for row in frame.collect()) == sorted(payloads)
    folder = save(frame, tmp_path / "out", recordType="ByteArray")
    with recmap.open(folder) as ds:
        assert [bytes(record) for record in ds] == payloads


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("current_timestamp() as t", "column 't': timestamp has no counterpart"),
        ("map('a', 1) as m", "column 'm': map<string,int> has no counterpart"),
        ("array(array(1)) as a", "use the option recordType=SequenceExample"),
        ("array(1, null) as a", "column 'a', row 0 of the batch: an array contains null"),
    ],
)
def test_what_cannot_be_stored_is_named(spark, tmp_path, query, message):
    with pytest.raises(Exception, match=message.replace("(", r"\(")):
        save(spark.sql(f"select {query}"), tmp_path / "out")
    assert not (tmp_path / "out").exists() or not names_in(tmp_path / "out")


def test_values_that_do_not_fit_the_schema_are_named(spark, tmp_path):
    folder = save(spark.sql("select 300 as x, array(1, 2) as l, unhex('ff') as b"), tmp_path / "o")
    for schema, message in [
        ("x tinyint", "column 'x'"),
        ("l int", "column 'l': record 0 has 2 values"),
        ("b string", "column 'b'"),
        ("x string", "x"),
    ]:
        with pytest.raises(Exception, match=message):
            reader(spark).schema(schema).load(str(folder)).collect()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"recordTyp": "Example"}, "there is no option 'recordtyp'"),
        ({"recordType": "Row"}, "recordtype must be one of"),
        ({"partitions": "-1"}, "partitions must be a number"),
    ],
)
def test_wrong_options_are_named(spark, digits_index, options, message):
    with pytest.raises(Exception, match=message):
        reader(spark, **options).load(str(digits_index)).count()


def test_an_index_elsewhere_needs_permission(spark, digits_index):
    """It could name any file of the executors."""
    with pytest.raises(Exception, match=r'set .option\("allow_absolute_paths", "true"\)'):
        reader(spark).load(str(digits_index))
    assert reader(spark, allow_absolute_paths=True).load(str(digits_index)).count() == 1797


def fail_in_the_middle(batches):
    for i, batch in enumerate(batches):
        if i == 2:
            raise ValueError("the middle")
        yield batch


def test_a_failed_job_leaves_nothing(spark, tmp_path):
    folder = save(frame_of(spark, 10, 1), tmp_path / "out", id="user_id")
    before = {name: (folder / name).read_bytes() for name in names_in(folder)}
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "100")
    try:
        frame = frame_of(spark, 2000, 2)
        failing = frame.mapInArrow(fail_in_the_middle, frame.schema)
        with pytest.raises(Exception, match="the middle"):
            save(failing, folder, id="user_id")
    finally:
        spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")
    assert {name: (folder / name).read_bytes() for name in names_in(folder)} == before


def test_an_executor_killed_in_the_middle_of_a_write(spark, tmp_path):
    """Its task is repeated elsewhere, and the result is the same as without the fault."""
    marker = tmp_path / "killed"

    def kill_once(batches):
        import signal
        import time

        from pyspark import TaskContext

        for i, batch in enumerate(batches):
            if i == 5 and TaskContext.get().partitionId() == 1 and not os.path.exists(marker):
                Path(marker).touch()
                time.sleep(1)
                daemon = int(
                    Path(f"/proc/{os.getppid()}/stat").read_text().rsplit(")", 1)[1].split()[1]
                )
                os.kill(daemon, signal.SIGKILL)  # the executor
                time.sleep(60)
            yield batch

    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "100")
    try:
        frame = frame_of(spark, 4000, 2)
        folder = save(frame.mapInArrow(kill_once, frame.schema), tmp_path / "out", id="user_id")
    finally:
        spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")
    assert marker.exists()
    assert len(names_in(folder)) == 3
    with recmap.open(folder, id="user_id") as ds:
        assert len(ds) == 4000
        numbers = sorted(int(recmap.decode_example(record)["n"][0]) for record in ds)
        assert numbers == list(range(4000))
        ds.verify()


def test_indexing_equals_one_build(spark, tmp_path):
    for shard in DIGITS.glob("*.tfrecord"):
        shutil.copy(shard, tmp_path)
    path = recmap.spark.index(spark, tmp_path, tmp_path / "a.rmx", id="id", lift=["label"])
    recmap.index(tmp_path, tmp_path / "b.rmx", id="id", lift=["label"], progress=None)
    assert Path(path).read_bytes() == (tmp_path / "b.rmx").read_bytes()
    assert not list(tmp_path.glob(".*"))


def test_options_of_indexing(spark, tmp_path):
    """Each gives what recmap.index gives."""
    (tmp_path / "text").write_bytes(b"first\nsecond\n")
    for shard in DIGITS.glob("*.tfrecord"):
        shutil.copy(shard, tmp_path)
    damaged = next(tmp_path.glob("digits-00002*"))
    data = bytearray(damaged.read_bytes())
    data[300] ^= 1
    damaged.write_bytes(data)
    for i, options in enumerate(
        [
            {"source": tmp_path / "text", "framing": "lines", "compression": "none"},
            {
                "source": tmp_path / "digits@4.tfrecord",
                "on_bad_record": "skip",
                "id": "id",
                "lift": {"label": 0},
                "count": {"image": "uint8"},
                "guard": True,
                "memory_limit": "64MiB",
                "threads": 2,
            },
        ]
    ):
        ours, theirs = tmp_path / f"a{i}.rmx", tmp_path / f"b{i}.rmx"
        source = options.pop("source")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            recmap.spark.index(spark, source, ours, **options, progress=None)
            recmap.index(source, theirs, **options, progress=None)
        assert ours.read_bytes() == theirs.read_bytes()
    with pytest.raises(recmap.CorruptRecordError, match="digits-00002"):
        recmap.spark.index(spark, tmp_path / "digits@4.tfrecord", tmp_path / "c.rmx")
    with recmap.open(ours, lift={"label": 0}, on_bad_record="skip") as ds:
        ds.annotate({"split": [1] * len(ds)}, by="number")
    with pytest.raises(recmap.FeatureError, match="'split'"):
        recmap.spark.index(spark, tmp_path / "digits@4.tfrecord", ours, on_bad_record="skip")
    assert not list(tmp_path.glob(".*"))


def test_indexing_warns_as_one_build(spark, tmp_path):
    """The tasks warn elsewhere, but what they find is told here, once."""
    for shard in DIGITS.glob("*.tfrecord"):
        shutil.copy(shard, tmp_path)
    with pytest.warns(UserWarning, match="no record has the feature 'lable'") as caught:
        recmap.spark.index(spark, tmp_path, lift={"lable": 0}, progress=None)
    ours = [w for w in caught if "lable" in str(w.message)]
    assert len(ours) == 1 and ours[0].filename == __file__


def test_indexing_gives_nulls(spark, tmp_path):
    write(tmp_path, [{"y": 1}, {"x": 1}], shards=2)
    path = tmp_path / "x.rmx"
    with pytest.raises(recmap.FeatureError, match='no value of lifted feature "x"'):
        recmap.spark.index(spark, tmp_path, path, lift=["x"])
    recmap.spark.index(spark, tmp_path, path, lift=["x"], missing_values="null", progress=None)
    data = path.read_bytes()
    recmap.index(tmp_path, path, lift=["x"], missing_values="null", progress=None)
    assert path.read_bytes() == data
    with recmap.open(path) as ds:
        assert ds.columns["x"].tolist() == [None, 1]


def test_shards_in_a_bucket(spark, tmp_path):
    with ObjectServer(DIGITS.parent) as server:
        options = {name: str(value).lower() for name, value in server.options().items()}
        url = f"s3://{DIGITS.name}/digits-*.tfrecord"
        path = recmap.spark.index(
            spark,
            url,
            tmp_path / "a.rmx",
            id="id",
            storage=recmap.Storage(options=options),
            progress=None,
        )
        recmap.index(
            url, tmp_path / "b.rmx", id="id", storage=recmap.Storage(options=options), progress=None
        )
        assert (tmp_path / "a.rmx").read_bytes() == (tmp_path / "b.rmx").read_bytes()
        del options["anonymous"]
        recmap.spark.index(
            spark,
            url,
            tmp_path / "c.rmx",
            id="id",
            storage=recmap.Storage(
                options=options, credentials=lambda: {"key": "KEY", "secret": "SECRET"}
            ),
            progress=None,
        )
        assert (tmp_path / "c.rmx").read_bytes() == (tmp_path / "a.rmx").read_bytes()
        options["anonymous"] = "true"
        storage = {f"storage.{name}": value for name, value in options.items()}
        with recmap.open(path, storage=recmap.Storage(options=options, allow_urls=True)) as ds:
            expected = sorted(records_of(ds))
        source = {"recordType": "ByteArray", "partitions": "3", **storage}
        with pytest.raises(Exception, match=r'set .option\("allow_urls", "true"\)'):
            reader(spark, **source).load(path)
        for frame in (
            reader(spark, allow_urls=True, **source).load(path),
            reader(spark, index=path, **source).load(url),
        ):
            assert sorted(bytes(row.byteArray) for row in frame.collect()) == expected


def test_errors_of_indexing_are_those_of_recmap(spark, tmp_path):
    shutil.copy(next(DIGITS.glob("*.tfrecord")), tmp_path / "a.tfrecord")
    with pytest.raises(recmap.FeatureError, match="image"):
        recmap.spark.index(spark, tmp_path, id="image", lift=["image", "nothing"])
    assert names_in(tmp_path) == ["a.tfrecord"]


def test_the_code_of_the_page_runs(spark, tmp_path, monkeypatch):
    page = ROOT / "docs" / "frameworks" / "spark.md"
    if not page.exists():
        pytest.skip("the pages are not here")
    for shard in DIGITS.glob("*.tfrecord"):
        shutil.copy(shard, tmp_path / shard.name.replace("digits", "train"))
    spark.sql("create database warehouse")
    spark.sql(
        "create table warehouse.users using parquet as select concat('user-', id) as user_id, "
        "cast(id as int) as age, float(id / 2) as score, array(id, id + 1) as history "
        "from range(40)"
    )
    names = {"__name__": "__main__"}
    text = page.read_text()
    text = text.replace("/data/", f"{tmp_path}/").replace("repartition(64)", "repartition(2)")
    for block in re.findall(r"```python\n(.*?)```", text, re.S):
        exec(block, names)
    assert len(names["ds"]) == 40 and len(recmap.open(names["path"])) == 1797


def test_doubles_that_floats_do_not_hold(spark, tmp_path):
    import pyarrow as pa
    from recmap.spark._encode import encoded
    from recmap.spark._types import columns_of

    frame = spark.createDataFrame([(0.5,), (1e39,)], "x double").coalesce(1)
    with pytest.raises(
        Exception, match=r"column 'x', row \d of the batch: 1e\+39 is beyond a float"
    ):
        save(frame, tmp_path / "a")

    def warned(kind, values, record_type="Example"):
        schema, found = types.StructType([types.StructField("x", kind)]), []
        (column,) = columns_of(schema, record_type)
        batch = pa.record_batch([pa.array(values, column.type_in(0))], names=["x"])
        list(encoded(batch, [column], record_type, lambda *rounding: found.append(rounding)))
        return found

    lists = types.ArrayType(types.ArrayType(types.DoubleType()))
    with pytest.raises(ValueError, match=r"row 2 of the batch: -1e\+39 is beyond"):
        warned(lists, [[[1.5]], None, [[], [1.5, -1e39]]], "SequenceExample")
    time, name = 1_700_000_000.123, "column 'x'"
    assert warned(types.DoubleType(), [None, 0.1, time]) == [(name, (str(time), "1700000000"))]
    assert warned(types.DoubleType(), [None, 0.1, float("nan"), float("inf"), 2.0**40]) == []
    for number in (2**64 - 5, 2**60 + 1):
        (rounding,) = warned(types.DecimalType(20, 0), [Decimal(5), Decimal(number)])
        assert rounding[1][0] == str(number)
    assert warned(types.DecimalType(20, 2), [Decimal("5.25"), None]) == []
    assert warned(types.LongType(), [2**53 + 1]) == []
