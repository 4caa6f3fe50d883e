"""Random messages of random types: values equal those of Google's protobuf."""

import json
import math
import random

import numpy as np
import pytest
import recmap
from conftest import write
from google.protobuf import json_format
from message_types import DTYPES, Field, Types, expected, paths_of


def same(a, b):
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float) and math.isnan(a):
        return math.isnan(b)
    return a == b and (not isinstance(a, float) or math.copysign(1, a) == math.copysign(1, b))


def plain(value, field):
    """A value of a column as protobuf gives it."""
    if isinstance(value, np.ndarray):
        return [plain(item, field) for item in value]
    if isinstance(value, (list, recmap.RaggedColumn, recmap.BytesColumn)):
        return [plain(item, field) for item in value]
    if isinstance(value, (bytes, memoryview)):
        return bytes(value).decode() if field.type == Field.TYPE_STRING else bytes(value)
    return value.item() if isinstance(value, np.generic) else value


def maps_of(keys, values, levels):
    """Maps of their keys and values. Of equal keys the last one counts."""
    if levels == 1:
        return dict(zip(keys, values, strict=True))
    return [maps_of(*pair, levels - 1) for pair in zip(keys, values, strict=True)]


def is_same(found, wanted):
    if isinstance(wanted, dict):
        return found.keys() == wanted.keys() and all(same(found[k], wanted[k]) for k in wanted)
    if isinstance(wanted, list) and wanted and isinstance(wanted[0], dict | list):
        return len(found) == len(wanted) and all(map(is_same, found, wanted))
    return same(found, wanted)


def records_of(types, count):
    """Messages, and the bytes that protobuf reads as them: as they are written, several messages in
    one, which are merged, and with unknown fields."""
    records = []
    for i in range(count):
        parts = [types.message(types.random.choice([0.3, 0.7, 1.0])) for _ in range(1 + i % 3)]
        data = b"".join(part.SerializeToString() for part in parts)
        if i % 3 == 2:
            data += types.noise()
        if i % 4 == 1:  # a varint, a string, a group and two fixed numbers
            unknown = (
                b"\xf8\xff\x07\x05" + b"\xfa\xff\x07\x02hi" + b"\xfb\xff\x07\x08\x01\xfc\xff\x07"
            )
            data = unknown + data + b"\xf9\xff\x07" + bytes(8) + b"\xfd\xff\x07" + bytes(4)
        records.append(data)
    return records


@pytest.mark.parametrize("seed", range(60))
def test_values(tmp_path, seed):
    types = Types(seed)
    records = records_of(types, 24)
    messages = [types.Root.FromString(data) for data in records]
    paths = list(paths_of(types.type))
    random.Random(seed).shuffle(paths)
    fields = recmap.Message(types.set, "Root", {path: path for path, _, _ in paths})
    write(tmp_path, records)
    with recmap.open(tmp_path / "made-0.tfrecord") as ds:
        batch = ds.parse(range(len(records)), fields)
        for path, field, levels in paths:
            column = batch[path]
            is_map = field.containing_type.GetOptions().map_entry
            if not levels and path in DTYPES:
                assert column.dtype == DTYPES[path]
            for i, message in enumerate(messages):
                wanted, found = expected(message, path), plain(column[i], field)
                if is_map:
                    key_path = path.rpartition(".")[0] + ".key"
                    key = field.containing_type.fields_by_name["key"]
                    found = maps_of(plain(batch[key_path][i], key), found, levels)
                    wanted = maps_of(expected(message, key_path), wanted, levels)
                assert is_same(found, wanted), (seed, path, i, found, wanted)


@pytest.mark.parametrize("seed", range(60, 90))
def test_json(seed):
    types = Types(seed)
    fields = recmap.Message(types.set, "test.random.Root", {})
    for data in records_of(types, 12):
        wanted = json_format.MessageToDict(types.Root.FromString(data))
        assert json.loads(fields.json(data)) == json.loads(json.dumps(wanted)), seed
