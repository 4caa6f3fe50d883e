"""Columns compared with what protobuf parses from the same bytes, valid or damaged.

What protobuf refuses, recmap refuses, but for damage in features that nobody asked for, which it
does not look into: those are blanked before protobuf sees them. It also refuses messages of other
types, which protobuf reads as Examples without features.
"""

import random
import struct

import numpy as np
import pytest
import recmap
from conftest import write

descriptor_pb2 = pytest.importorskip("google.protobuf.descriptor_pb2")
from google.protobuf import descriptor_pool, json_format, message_factory  # noqa: E402
from google.protobuf.message import DecodeError  # noqa: E402
from google.protobuf.unknown_fields import UnknownFieldSet  # noqa: E402

BYTES, FLOAT, INT64 = 0, 1, 2
LISTS_OF_KIND = ("bytes_list", "float_list", "int64_list")


def field(name, number, type, of=None, label="LABEL_OPTIONAL", **more):
    kind = {"type": f"TYPE_{type}", "label": label, **more}
    return {"name": name, "number": number, **kind, **({"typeName": f".t.{of}"} if of else {})}


def map_of(name, value):
    return {
        "name": "".join(part.title() for part in name.split("_")) + "Entry",
        "field": [field("key", 1, "STRING"), field("value", 2, "MESSAGE", value)],
        "options": {"mapEntry": True},
    }


def message(name, fields, nested=()):
    return {"name": name, "field": fields, "nestedType": list(nested)}


def messages():
    """The classes of tf.Example and tf.SequenceExample."""
    repeated = "LABEL_REPEATED"
    kinds = [
        field(name, i + 1, "MESSAGE", name.title().replace("_", ""), oneofIndex=0)
        for i, name in enumerate(LISTS_OF_KIND)
    ]
    maps = [("Features", "feature", "Feature"), ("FeatureLists", "feature_list", "FeatureList")]
    file = {
        "name": "t.proto",
        "package": "t",
        "syntax": "proto3",
        "messageType": [
            message("BytesList", [field("value", 1, "BYTES", label=repeated)]),
            message("FloatList", [field("value", 1, "FLOAT", label=repeated)]),
            message("Int64List", [field("value", 1, "INT64", label=repeated)]),
            {**message("Feature", kinds), "oneofDecl": [{"name": "kind"}]},
            message("FeatureList", [field("feature", 1, "MESSAGE", "Feature", repeated)]),
            *(
                message(
                    name,
                    [field(of, 1, "MESSAGE", f"{name}.{map_of(of, '')['name']}", repeated)],
                    [map_of(of, value)],
                )
                for name, of, value in maps
            ),
            message("Example", [field("features", 1, "MESSAGE", "Features")]),
            message(
                "SequenceExample",
                [
                    field("context", 1, "MESSAGE", "Features"),
                    field("feature_lists", 2, "MESSAGE", "FeatureLists"),
                ],
            ),
        ],
    }
    pool = descriptor_pool.DescriptorPool()
    pool.Add(json_format.ParseDict(file, descriptor_pb2.FileDescriptorProto()))
    names = ("t.Example", "t.SequenceExample")
    return [message_factory.GetMessageClass(pool.FindMessageTypeByName(name)) for name in names]


Example, SequenceExample = messages()


# Bytes as no writer makes them, and as all do.


def varint(value):
    value &= 2**64 - 1
    made = bytearray()
    while value > 127:
        made.append(value & 127 | 128)
        value >>= 7
    return bytes(made) + bytes([value])


def held(number, body):
    return varint(number << 3 | 2) + varint(len(body)) + body


def unknown(r):
    number = r.choice([5, 6, 15, 16, 2000])
    pieces = {
        0: varint(r.getrandbits(r.randrange(65))),
        1: r.randbytes(8),
        2: varint(3) + b"abc",
        5: r.randbytes(4),
    }
    type = r.choice([0, 1, 2, 3, 5])
    if type == 3:
        return (
            varint(number << 3 | 3)
            + (unknown(r) if r.random() < 0.5 else b"")
            + varint(number << 3 | 4)
        )
    return varint(number << 3 | type) + pieces[type]


def integer(r):
    edges = [0, 1, 127, 128, 255, 256, 2**15 - 1, 2**15, -(2**15) - 1, 2**31, -1]
    edges += [2**63 - 1, -(2**63)]
    return r.choice(edges) if r.random() < 0.5 else r.randrange(300)


def real(r):
    edges = [0.0, -0.0, 1.5, 65504.0, 65519.99, 65520.0, -65536.0, 3.4e38, 1e-8, 6e-8, 5.9e-8]
    edges += [float("inf"), float("-inf"), float("nan"), 3.3961776e38, 2049.0, 2051.0, 1e-40]
    return r.choice(edges) if r.random() < 0.5 else r.uniform(-10, 10)


def list_body(r, kind, count):
    """The fields of a list, packed, unpacked, or some of both."""
    values = [integer(r) if kind == INT64 else real(r) for _ in range(count)]
    if kind == BYTES:
        return b"".join(held(1, r.randbytes(r.choice([0, 2, 6, 13, 200]))) for _ in values)
    plain = [varint(v) if kind == INT64 else struct.pack("<f", v) for v in values]
    tag = b"\x08" if kind == INT64 else b"\x0d"
    way = r.random()
    if way < 0.7:
        return held(1, b"".join(plain))
    if way < 0.85:
        return b"".join(tag + value for value in plain)
    cut = r.randrange(count + 1)
    return b"".join(tag + value for value in plain[:cut]) + held(1, b"".join(plain[cut:]))


def feature_body(r, kind, count):
    if r.random() < 0.05:
        return b""
    made = held(kind + 1, list_body(r, kind, count))
    if r.random() < 0.04:
        made += held(kind + 1, list_body(r, kind, r.randrange(3)))
    if r.random() < 0.03:
        made = held(r.randrange(3) + 1, list_body(r, INT64, 1) if r.random() < 0.5 else b"") + made
    return (unknown(r) if r.random() < 0.02 else b"") + made


def entry(r, name, value):
    pieces = [held(1, name), held(2, value)]
    if r.random() < 0.03:
        pieces.append(unknown(r))
    if r.random() < 0.03:
        pieces.append(r.choice([held(1, name), held(2, b"")]))
    if r.random() < 0.05:
        r.shuffle(pieces)
    return held(1, b"".join(pieces))


# What is asked for: the name of the column, the feature, its list, how many values records have.
ASKED = [
    ("fixed", recmap.FixedLen(2, "int64", default=[7, -8]), INT64, (2, 2, 2, 2, 1)),
    ("one", recmap.FixedLen((), "int64", default=3), INT64, (1,)),
    ("float", recmap.FixedLen((), "float32", default=0.5), FLOAT, (1,)),
    ("bytes", recmap.FixedLen(2, bytes, default=b"nothing of the kind"), BYTES, (2,)),
    ("copied", recmap.FixedLen((), bytes, default=b"", copy=True), BYTES, (1,)),
    ("ints", recmap.VarLen("int64"), INT64, (0, 1, 3, 8, 40, 1000)),
    ("floats", recmap.VarLen("float32"), FLOAT, (0, 1, 3, 700)),
    ("values", recmap.VarLen(bytes), BYTES, (0, 1, 3)),
    ("steps", recmap.FixedLenSequence((2, 1), "int64", default=-5), INT64, (0, 2, 2, 4, 10, 3)),
    ("ragged steps", recmap.FixedLenSequence(3, "float64", ragged=True), FLOAT, (0, 3, 9)),
    ("words", recmap.FixedLenSequence((), bytes, default=b"pad"), BYTES, (0, 1, 3)),
    ("small", recmap.FixedLen((), "uint8", default=9), INT64, (1,)),
    ("smalls", recmap.VarLen("int16"), INT64, (0, 1, 3, 40)),
    ("halves", recmap.VarLen("float16"), FLOAT, (0, 1, 3)),
    ("raw", recmap.FixedLen((3, 1), "int16", default=1, raw=True), BYTES, (1,)),
    ("a name of more than twenty-two bytes", recmap.VarLen("uint32"), INT64, (0, 1, 2)),
    (
        "a name of even more than forty-six bytes, which is very long",
        recmap.VarLen("int64"),
        INT64,
        (1,),
    ),
]
RANGES = {"uint8": (0, 255), "int16": (-(2**15), 2**15 - 1), "uint32": (0, 2**32 - 1)}


def body_of(r, kind, counts, feature):
    if getattr(feature, "raw", False):
        return held(1, held(1, r.randbytes(r.choice([6, 6, 6, 6, 4]))))
    if getattr(feature, "dtype", "") in RANGES and r.random() < 0.8:
        values = [r.randrange(200) for _ in range(r.choice(counts))]
        return held(3, held(1, b"".join(map(varint, values))))
    return feature_body(r, kind, r.choice(counts))


def features_body(r):
    asked = [a for a in ASKED if r.random() < 0.8]
    if r.random() < 0.3:
        r.shuffle(asked)
    if asked and r.random() < 0.1:
        asked.append(r.choice(asked))
    made = [entry(r, name.encode(), body_of(r, *rest, f)) for name, f, *rest in asked]
    for _ in range(r.choice([0, 0, 1, 3])):
        name = r.choice([b"", b"other", b"on", b"fixed ", "\u00e9t\u00e9".encode()])
        made.insert(r.randrange(len(made) + 1), entry(r, name, feature_body(r, r.randrange(3), 2)))
    if r.random() < 0.03:
        made.insert(0, unknown(r))
    return b"".join(made)


def damaged(r, data):
    data = bytearray(data)
    way = r.random()
    if way < 0.6 or not data:
        return bytes(data)
    at = r.randrange(len(data))
    if way < 0.8:
        data[at] ^= 1 << r.randrange(8)
    elif way < 0.87:
        del data[at:]
    elif way < 0.94:
        del data[at]
    else:
        data.insert(at, r.randrange(256))
    return bytes(data)


def record(r):
    made = held(1, features_body(r))
    if r.random() < 0.1:
        made += held(1, features_body(r))
    if r.random() < 0.05:
        made += unknown(r)
    return damaged(r, made)


# Features that nobody asked for, blanked.


def read_varint(data, at, limit=10):
    value = 0
    for i in range(limit):
        if at + i >= len(data):
            break
        value |= (data[at + i] & 127) << 7 * i
        if data[at + i] < 128:
            return value, at + i + 1
    raise ValueError


def passed(data, tag, at):
    """Where the body of a field begins and where it ends."""
    first, type = at, tag & 7
    if type == 0:
        at = read_varint(data, at)[1]
    elif type == 2:
        size, first = read_varint(data, at, 5)
        at = first + size
    elif type in (1, 5):
        at += 8 if type == 1 else 4
    elif type == 3:
        while True:
            inner, at = read_varint(data, at, 5)
            if inner == tag + 1:
                break
            at = passed(data, inner, at)[1]
    else:
        raise ValueError
    if at > len(data) or tag >> 3 == 0:
        raise ValueError
    return first, at


def fields(data):
    """(tag, begin of the body, end) of each field, or ValueError."""
    at = 0
    while at < len(data):
        tag, at = read_varint(data, at, 5)
        first, at = passed(data, tag, at)
        yield tag, first, at


def plain_entry(data, names):
    """Without the values of a name that is not asked for, and without what is unknown: protobuf's
    upb, unlike its libraries in C++ and Java, takes a map's entry with unknown fields for one."""
    parts = list(fields(data))
    keys = [data[first:end] for tag, first, end in parts if tag == 0x0A]
    known = (0x0A, 0x12) if (keys[-1] if keys else b"") in names else (0x0A,)
    return b"".join(held(tag >> 3, data[first:end]) for tag, first, end in parts if tag in known)


def blanked(data, names, outer=(0x0A, 0x0A)):
    """Entries of a record made plain, where it can be read so far. `outer`: the tags that lead to
    them."""
    try:
        if not outer:
            return plain_entry(data, names)
        parts = list(fields(data))
    except ValueError:
        return data
    made, last = b"", 0
    for tag, first, end in parts:
        is_way = tag == outer[0]
        body = data[first:end]
        made += held(tag >> 3, blanked(body, names, outer[1:])) if is_way else data[last:end]
        last = end
    return made


# What the columns must be.


class Refused(Exception):
    pass


def refuse_others(found):
    """A message with other fields, but without features, is of another type, though protobuf reads
    it as an Example."""
    others = {(field.field_number, field.wire_type) for field in UnknownFieldSet(found)}
    if not found.features.feature and others - {(2, 2)}:  # the lists of a SequenceExample
        raise Refused


def values_of(features, name, kind):
    """The list of the message; None where it has none."""
    if name not in features:
        return None
    found = features[name].WhichOneof("kind")
    if found is None:
        return None
    values = list(getattr(features[name], found).value)
    if values and found != LISTS_OF_KIND[kind]:
        raise Refused
    return values


def converted(values, dtype):
    if dtype in RANGES and any(not RANGES[dtype][0] <= v <= RANGES[dtype][1] for v in values):
        raise Refused
    if dtype != "float16":
        return values
    with np.errstate(over="ignore"):
        halves = np.array(values, np.float32).astype(np.float16)
    if (np.isinf(halves) & np.isfinite(values)).any():
        raise Refused
    return halves.tolist()


def cut(values, shape):
    count = int(np.prod(shape, dtype=int))
    if len(values) % count:
        raise Refused
    if not shape:
        return values
    steps = np.empty(len(values), object)
    steps[:] = values
    return steps.reshape(-1, *shape).tolist()


def expected(features, name, feature, kind):
    """The row of a column."""
    values = values_of(features, name, kind)
    shape = recmap._example.elements.shape_of(getattr(feature, "shape", ()))
    if isinstance(feature, recmap.FixedLen):
        count = int(np.prod(shape, dtype=int))
        if values is None:
            values = list(np.broadcast_to(np.array(feature.default, object), count))
        elif feature.raw:
            element = np.dtype(feature.dtype).newbyteorder("<")
            if len(values) != 1 or len(values[0]) != element.itemsize * count:
                raise Refused
            values = np.frombuffer(values[0], element).tolist()
        if len(values) != count:
            raise Refused
        values = converted(values, feature.dtype)
        return cut(values, shape)[0]
    return cut(converted(values or [], feature.dtype), shape)


def check_row(column, row, feature, wanted, data):
    got = column[row]
    if isinstance(feature, recmap.FixedLenSequence) and not feature.ragged:
        pads = np.ravel(np.array(got[len(wanted) :], object)).tolist()
        assert all(pad == feature.default for pad in pads)
        got = got[: len(wanted)]
    assert repr(got) == repr(wanted), data.hex()


def check(batch, features, records, wanted):
    """The columns of records, beside the rows wanted: {name: row}, or None for a bad record.
    Returns how many are bad."""
    failures = dict(batch.failures)
    columns = {name: batch[name].tolist() for name in features}
    for row, (data, rows) in enumerate(zip(records, wanted, strict=True)):
        assert (row in failures) == (rows is None), (failures.get(row), data.hex())
        if rows is None:
            offset = failures[row].offset
            assert failures[row].record == batch.numbers[row]
            assert offset is None or 0 <= offset <= len(data)
            continue
        for name, feature in features.items():
            check_row(columns[name], row, feature, rows[name], data)
    return len(failures)


def wanted_of(rows_of, data):
    try:
        return rows_of(data)
    except (DecodeError, Refused):
        return None


FEATURES = {name: feature for name, feature, *_ in ASKED}


def example_rows(data):
    found = Example.FromString(blanked(data, {name.encode() for name in FEATURES}))
    refuse_others(found)
    return {name: expected(found.features.feature, name, f, kind) for name, f, kind, _ in ASKED}


def in_batches(folder, records, size):
    """The data set of the records, and numbers and bytes of each batch."""
    write(folder, records)
    with recmap.open(folder / "made-0.tfrecord") as ds:
        for first in range(0, len(records), size):
            yield ds, range(first, first + size), records[first : first + size]


@pytest.mark.parametrize("seed", range(4))
def test_examples_agree_with_protobuf(tmp_path, seed):
    r = random.Random(seed)
    for ds, numbers, part in in_batches(tmp_path, [record(r) for _ in range(300)], 100):
        batch = ds.parse(numbers, FEATURES, on_bad_record="collect")
        wanted = [wanted_of(example_rows, data) for data in part]
        assert 0 < check(batch, FEATURES, part, wanted) < 90


# What lists may be asked for in feature lists, and lists that are asked for.
LIST_ASKED = [
    ("frames", recmap.FixedLenSequence(2, "float32", default=-1.0), FLOAT, (2,)),
    ("tokens", recmap.VarLen("int64"), INT64, (0, 1, 3, 40)),
    ("chunks", recmap.FixedLenSequence((), bytes, ragged=True), BYTES, (1,)),
    ("texts", recmap.VarLen(bytes, copy=True), BYTES, (0, 1, 2)),
]


def lists_body(r):
    made = []
    for name, _, kind, counts in [*LIST_ASKED, ("others", None, r.randrange(3), (0, 1))]:
        if r.random() < 0.15:
            continue
        steps = [feature_body(r, kind, r.choice(counts)) for _ in range(r.choice([0, 1, 3, 20]))]
        if kind != FLOAT or r.random() < 0.1:
            body = b"".join(held(1, step) for step in steps)
        else:
            plain = held(2, held(1, struct.pack("<2f", real(r), real(r))))
            body = held(1, plain) * len(steps)
        if r.random() < 0.03:
            body += unknown(r)
        made.append(entry(r, name.encode(), body))
    if r.random() < 0.2:
        r.shuffle(made)
    return b"".join(made)


def sequence(r):
    pieces = [held(1, features_body(r)), held(2, lists_body(r))]
    if r.random() < 0.1:
        r.shuffle(pieces)
    if r.random() < 0.1:
        pieces.append(held(2, lists_body(r)))
    return damaged(r, b"".join(pieces))


def expected_list(lists, name, feature, kind):
    if name not in lists:
        return []
    steps = [values_of({"": step}, "", kind) for step in lists[name].feature]
    if isinstance(feature, recmap.VarLen):
        return [step or [] for step in steps]
    shape = recmap._example.elements.shape_of(feature.shape)
    if any(step is None or len(step) != int(np.prod(shape, dtype=int)) for step in steps):
        raise Refused
    return [cut(step, shape)[0] for step in steps]


def plain_sequence(data):
    """As `blanked`, of both maps. Values of context and lists are told by the field."""
    asked = {name.encode() for name, *_ in ASKED}
    listed = {name.encode() for name, *_ in LIST_ASKED}
    try:
        parts = list(fields(data))
    except ValueError:
        return data
    made, last = b"", 0
    for tag, first, end in parts:
        way = {0x0A: asked, 0x12: listed}.get(tag)
        if way is None:
            made += data[last:end]
        else:
            made += held(tag >> 3, blanked(data[first:end], way, (0x0A,)))
        last = end
    return made


LISTS = {name: feature for name, feature, *_ in LIST_ASKED}


def sequence_rows(data):
    found = SequenceExample.FromString(plain_sequence(data))
    context, lists = found.context.feature, found.feature_lists.feature_list
    return (
        {name: expected(context, name, f, kind) for name, f, kind, _ in ASKED},
        {name: expected_list(lists, name, f, kind) for name, f, kind, _ in LIST_ASKED},
    )


@pytest.mark.parametrize("seed", range(4))
def test_sequences_agree_with_protobuf(tmp_path, seed):
    r = random.Random(seed)
    for ds, numbers, part in in_batches(tmp_path, [sequence(r) for _ in range(240)], 80):
        batches = ds.parse_sequence(numbers, FEATURES, LISTS, on_bad_record="collect")
        wanted = [wanted_of(sequence_rows, data) for data in part]
        for i, (batch, features) in enumerate(zip(batches, (FEATURES, LISTS), strict=True)):
            assert 0 < check(batch, features, part, [rows and rows[i] for rows in wanted]) < 72


DIGIT = [
    ("id", recmap.FixedLen((), bytes, default=b""), BYTES),
    ("image", recmap.FixedLen(64, "uint8", default=255, raw=True), BYTES),
    ("label", recmap.FixedLen((), "uint8", default=10), INT64),
]


def digit_rows(data):
    found = Example.FromString(blanked(data, {name.encode() for name, *_ in DIGIT}))
    refuse_others(found)
    return {name: expected(found.features.feature, name, f, kind) for name, f, kind in DIGIT}


def test_truncated_and_flipped_records_never_crash(tmp_path, digits):
    whole = bytes(digits[1234])
    records = [whole[:size] for size in range(len(whole) + 1)]
    for at in range(len(whole)):
        for bit in range(8):
            records.append(whole[:at] + bytes([whole[at] ^ 1 << bit]) + whole[at + 1 :])
    features = {name: feature for name, feature, _ in DIGIT}
    for ds, numbers, part in in_batches(tmp_path, records, len(records)):
        batch = ds.parse(numbers, features, on_bad_record="collect")
        wanted = [wanted_of(digit_rows, data) for data in part]
        assert len(whole) < check(batch, features, part, wanted) < len(records)


def test_encoded_examples_equal_protobuf():
    r = random.Random(3)
    for _ in range(300):
        made, features = Example(), {}
        # No name is a prefix of another: upb sorts such names differently from protobuf in C++.
        for name in r.sample(["a", "b", "\u00e9", "\U0001f600", "words"], r.randrange(1, 6)):
            kind, count = r.randrange(3), r.randrange(4)
            make = (lambda r: r.randbytes(r.randrange(200)), real, integer)[kind]
            values = [make(r) for _ in range(count)]
            if count == 0:
                made.features.feature[name].SetInParent()
            else:
                getattr(made.features.feature[name], LISTS_OF_KIND[kind]).value.extend(values)
            features[name] = values
        assert recmap.encode_example(features) == made.SerializeToString(deterministic=True)
