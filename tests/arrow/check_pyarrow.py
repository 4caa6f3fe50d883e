"""pyarrow takes what is exported: every array passes its full validation, holds the values that it
should, goes through IPC unharmed, and is let go when the last of its parts is, in any order."""

import ctypes
import gc
import random
import sys

import pyarrow as pa

exports = ctypes.CDLL(sys.argv[1])

LONG = b"the_second_of_many_bytes"
DEFAULT = b"a_default_of_many_bytes"
VALUES = {
    "vector": [[1, 0, 0, 1], [-1] * 4, None, [0] * 4],
    "matrix": [[1, 0, 0, 1], [-1] * 4, None, [0] * 4],
    "flags": [[[True, False], [False, True]], [[True] * 2] * 2, None, [[False] * 2] * 2],
    "half": [[1.5, -2.0], [8.0, 8.0], None, [0.0, 1.0]],
    "brain": [[0x3FC0, 0xC000], None, None, [0, 0x3F80]],
    "texts": [
        [b"short", b"more_than_12_bytes"],
        [DEFAULT] * 2,
        None,
        [b"more_than_12_bytes_too", b""],
    ],
    "v": [[1, 2, 3, 4], None, None, []],
    "words": [[b"a", LONG, b"c", b"d"], None, None, None],
    "padded": [[[b"a", LONG], [b"c", b"d"]], None, None, None],
    "pairs": [[[[1, 2]], [[3, 4]]], None, None, []],
    "ragged": [[[[1, 2]], [], [[3, 4]]], None, None, []],
    "sparse": [
        [
            {"indices": [0, 4], "value": b"d"},
            {"indices": [1, 2], "value": LONG},
            {"indices": [2, 3], "value": b"c"},
            {"indices": [3, 1], "value": b"a"},
        ],
        None,
        None,
        None,
    ],
    "a": [[[1, 2], [3, 4]], None, None, None],
    "b": [[[b"u", b"another_of_many_bytes"], []], None, None, []],
}
# A row that cannot be read is null; the second context has no features at all.


def take(make, importer, *arguments):
    array, schema = ctypes.create_string_buffer(128), ctypes.create_string_buffer(128)
    status = make(array, schema, *arguments)
    assert status == 0, status
    return importer(ctypes.addressof(array), ctypes.addressof(schema))


def take_batch(copied):
    return take(exports.exports_batch, pa.RecordBatch._import_from_c, copied)


def storage(column):
    return column.storage if isinstance(column.type, pa.BaseExtensionType) else column


def check_values(batch):
    batch.validate(full=True)
    assert batch.schema.names == list(VALUES), batch.schema
    for name, expected in VALUES.items():
        found = storage(batch.column(name)).to_pylist()
        assert found == expected, (name, found, expected)


def check_types(batch, binary):
    types = {name: batch.schema.field(name).type for name in VALUES}
    assert types["vector"] == pa.list_(pa.int64(), 4), types
    assert types["matrix"] == pa.fixed_shape_tensor(pa.int16(), [2, 2]), types
    assert types["flags"] == pa.list_(pa.list_(pa.bool_(), 2), 2), types
    assert types["half"] == pa.list_(pa.float16(), 2), types
    assert types["brain"] == pa.large_list(pa.uint16()), types
    assert types["words"] == pa.large_list(binary), types
    assert types["padded"] == pa.large_list(pa.list_(binary, 2)), types
    assert types["ragged"] == pa.large_list(pa.large_list(pa.list_(pa.int64(), 2))), types
    point = pa.struct([("indices", pa.list_(pa.int64(), 2)), ("value", binary)])
    assert types["sparse"] == pa.large_list(point), types
    assert batch.schema.field("sparse").metadata == {b"recmap:sizes": b"[9, 9]"}
    brain = types["brain"].value_field
    assert brain.metadata == {b"recmap:element": b"bfloat16"}, brain.metadata


def check_ipc(batch):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    check_values(pa.ipc.open_stream(sink.getvalue()).read_next_batch())


def check_release(copied):
    """Columns of several batches, let go in random order: the records live until the last of their
    batch, and what is left stays right."""
    held = []
    for _ in range(5):
        batch = take_batch(copied)
        held += [(name, batch.column(name)) for name in VALUES]
        del batch
    gc.collect()
    assert exports.exports_alive() == 5, exports.exports_alive()
    random.Random(3).shuffle(held)
    while held:
        held.pop()
        for name, column in held[-3:]:
            assert storage(column).to_pylist() == VALUES[name], name
        column = None
    gc.collect()
    assert exports.exports_alive() == 0, exports.exports_alive()


def check_records():
    records = take(exports.exports_records, pa.Array._import_from_c)
    records.validate(full=True)
    assert records.type == pa.binary_view() and len(records) == 4
    assert [len(r) > 12 for r in records.to_pylist()] == [True, False, True, True]
    tail = records.slice(3)
    expected = tail.to_pylist()
    del records
    gc.collect()
    assert exports.exports_alive() == 1
    assert tail.to_pylist() == expected
    del tail
    gc.collect()
    assert exports.exports_alive() == 0


for copied, binary in ((0, pa.binary_view()), (1, pa.large_binary())):
    batch = take_batch(copied)
    check_values(batch)
    check_types(batch, binary)
    check_ipc(batch)
    check_values(pa.Table.from_batches([batch, batch]).slice(4).combine_chunks().to_batches()[0])
    del batch
    check_release(copied)
check_records()
print("pyarrow", pa.__version__, "takes all")
