"""Arrow, pandas and Polars: tables without views, streams of batches, and resuming."""

import json

import pytest
import recmap
from conftest import write

pa = pytest.importorskip("pyarrow")

FEATURES = {
    "label": recmap.FixedLen((), "int32"),
    "image": recmap.FixedLen((), bytes),
    "pixels": recmap.FixedLen((8, 8), "uint8", raw=True, key="image"),
    "ids": recmap.VarLen(bytes, key="id"),
    "pair": recmap.FixedLen((1,), bytes, key="id"),
}


def has_views(kind):
    if pa.types.is_binary_view(kind):
        return True
    return any(has_views(kind.field(i).type) for i in range(kind.num_fields))


def test_tables_copy_bytes_and_have_equal_values(digits):
    batch = digits.parse(range(100), FEATURES)
    views, table = pa.table(batch), recmap.arrow.table(batch)
    assert has_views(views.schema.field("image").type)
    assert not any(has_views(field.type) for field in table.schema)
    assert table.to_pylist() == views.to_pylist()
    assert table.column_names == list(FEATURES)


def test_table_of_records(made, payloads):
    table = recmap.arrow.table(made.gather(range(len(made))))
    assert table["bytes"].to_pylist() == payloads


def test_tables_outlive_the_data_set(digits_index, copied_digits):
    ds = recmap.open(copied_digits)
    expected = [bytes(record) for record in ds[:10]]
    table = recmap.arrow.table(ds.gather(range(10)))
    ds.close()
    for path in copied_digits.glob("*.tfrecord"):
        path.write_bytes(b"")  # reading a mapping of it would now raise SIGBUS
    assert table["bytes"].to_pylist() == expected


def test_fixed_shapes_become_arrow_tensors(digits):
    batch = digits.parse(range(10), FEATURES)
    pixels = recmap.arrow.table(batch)["pixels"].chunk(0).to_numpy_ndarray()
    assert pixels.shape == (10, 8, 8) and (pixels == batch["pixels"]).all()
    table = recmap.arrow.table(batch, tensor=recmap.arrow.lists)
    assert table["pixels"].to_pylist() == batch["pixels"].tolist()


def test_sequences_become_lists(tmp_path):
    records = [recmap.encode_example({"tokens": list(range(i))}) for i in range(1, 5)]
    write(tmp_path, records)
    ds = recmap.open(tmp_path)
    features = {"tokens": recmap.FixedLenSequence((), "int64", default=-1)}
    for tensor in (None, recmap.arrow.lists):
        table = recmap.arrow.table(ds.parse(range(4), features), tensor=tensor)
        assert table["tokens"].to_pylist() == [list(range(i)) for i in range(1, 5)]


@pytest.mark.parametrize("views", [False, True])
@pytest.mark.parametrize("features", [FEATURES, None])
def test_reader_streams_the_loader(digits, views, features):
    loader = recmap.Loader(digits, 100, shuffle=True, seed=7, features=features)
    reader = recmap.arrow.reader(loader, views=views)
    assert isinstance(reader, pa.RecordBatchReader)
    assert any(has_views(field.type) for field in reader.schema) == views
    table = reader.read_all()
    numbers = recmap.Shuffled(len(digits), seed=7).at(0, range(len(digits)))
    if features is None:
        assert table["bytes"].to_pylist() == [bytes(digits[n]) for n in numbers]
    else:
        assert table["label"].to_pylist() == digits.columns["label"][numbers].tolist()
    assert loader.epoch == 1


def test_reader_resumes_inside_an_epoch(digits):
    def made():
        return recmap.Loader(digits, 100, shuffle=True, seed=7, features=FEATURES)

    whole = [batch["label"].to_pylist() for batch in recmap.arrow.reader(made())]
    loader = made()
    reader = recmap.arrow.reader(loader)
    for _ in range(5):
        reader.read_next_batch()
    state = json.loads(json.dumps(loader.state_dict()))
    again = made()
    again.load_state_dict(state)
    assert [batch["label"].to_pylist() for batch in recmap.arrow.reader(again)] == whole[5:]


def test_reader_of_a_transform(digits):
    with pytest.raises(ValueError, match="transform"):
        recmap.arrow.reader(recmap.Loader(digits, 100, transform=len))
    with pytest.raises(ValueError, match="are pairs"):
        recmap.arrow.reader(recmap.Loader(digits, 100, feature_lists={"x": recmap.VarLen("int64")}))


def test_pandas_reads_the_table(digits):
    pytest.importorskip("pandas")
    batch = digits.parse(range(100), FEATURES)
    frame = recmap.arrow.table(batch).to_pandas()
    assert frame["label"].tolist() == batch["label"].tolist()
    assert [list(ids) for ids in frame["ids"]] == batch["ids"].tolist()
    assert frame["image"].tolist() == batch["image"].tolist()


def test_polars_reads_the_table(digits):
    polars = pytest.importorskip("polars")
    batch = digits.parse(range(100), FEATURES)
    for frame in (polars.DataFrame(batch), polars.DataFrame(recmap.arrow.table(batch))):
        assert frame["label"].to_list() == batch["label"].tolist()
        assert frame["image"].to_list() == batch["image"].tolist()
        assert frame["ids"].to_list() == batch["ids"].tolist()
    loader = recmap.Loader(digits, 100, features=FEATURES)
    frame = polars.DataFrame(recmap.arrow.reader(loader))
    assert frame["label"].to_list() == digits.columns["label"].tolist()


def test_parquet_and_ipc(digits, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    loader = recmap.Loader(digits, 500, features=FEATURES)
    reader = recmap.arrow.reader(loader)
    with parquet.ParquetWriter(tmp_path / "x.parquet", reader.schema) as writer:
        for batch in reader:
            writer.write_batch(batch)
    assert parquet.read_table(tmp_path / "x.parquet")["label"].to_pylist() == (
        digits.columns["label"].tolist()
    )
    table = recmap.arrow.table(digits.gather([3]))
    with pa.ipc.new_file(tmp_path / "x.arrow", table.schema) as writer:
        writer.write(table)
    assert (tmp_path / "x.arrow").stat().st_size < 1000


def test_a_data_set_is_not_a_loader(digits):
    with pytest.raises(TypeError, match=r"loader must be a recmap\.Loader, not <recmap\.Dataset"):
        recmap.arrow.reader(digits)
