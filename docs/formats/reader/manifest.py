"""The manifest of an index, its shards and its damage, with every check of index-format.md."""

import re

import numpy as np

from .errors import check
from .message import as_text, decode
from .shard import FRAMING, PLAIN, ZLIB
from .xxh3 import stored, xxh3_128

LIMIT = 1 << 62
ENTRIES = 4096  # of a table
NUMBER = r"int8|int16|int32|int64|uint8|uint16|uint32|uint64"
ELEMENT = re.compile(NUMBER + "|bool|float16|bfloat16|float32|float64|")
CONTINUED = re.compile(r"tfrecord|ofrecord|lines|fixed:\d+,\d+,0")
INTEGER = re.compile(r"[ \t\n\v\f\r]*[+-]?\d+", re.ASCII)
REAL = re.compile(
    r"[ \t\n\v\f\r]*[+-]?((\d+[.]?\d*|[.]\d+)(e[+-]?\d+)?|inf(inity)?|(?P<nan>nan([(]\w*[)])?)"
    r"|(?P<hex>0x([0-9a-f]+[.]?[0-9a-f]*|[.][0-9a-f]+)(p[+-]?\d+)?))",
    re.ASCII | re.IGNORECASE,
)

COLUMN = {
    1: ("name", "text"), 2: ("type", "uint32"), 3: ("has_default", "bool"),
    4: ("default_value", "bytes"), 5: ("first_value", "int"), 6: ("is_annotated", "bool"),
    7: ("null_count", "int"), 8: ("is_float64", "bool"),
}  # fmt: skip
FEATURE = {1: ("name", "text"), 2: ("element", "text")}
MANIFEST = {
    1: ("format_version", "uint32"), 2: ("record_count", "int"), 3: ("shard_count", "int"),
    4: ("byte_count", "int"), 5: ("id_count", "int"), 6: ("damage_count", "int"),
    7: ("damaged_byte_count", "int"), 8: ("fingerprint", "bytes"), 9: ("has_ids", "bool"),
    10: ("extracted_by_caller", "bool"), 11: ("columns", COLUMN), 12: ("skips_damage", "bool"),
    13: ("id_name", "text"), 14: ("counted_features", FEATURE), 15: ("header", "bytes"),
}  # fmt: skip
SHARD = {
    1: ("path", "bytes"), 2: ("size", "int"), 3: ("mtime_ns", "sint"), 4: ("record_count", "int"),
    5: ("framing", "bytes"), 6: ("hash", "bytes"), 7: ("samples", "fixed32s"),
    8: ("sample_step", "int"), 9: ("damage_count", "int"), 10: ("file_size", "int"),
    11: ("compression", "uint32"), 12: ("tail_size", "int"), 13: ("point_count", "int"),
    14: ("etag", "bytes"), 15: ("start", "int"),
}  # fmt: skip
DAMAGE = {1: ("shard", "int"), 2: ("offset", "int"), 3: ("length", "int"), 4: ("reason", "bytes")}
INT64, SINGLE, BYTES = 1, 2, 3  # types of columns


def read_manifest(store):
    store.check_keys("manifest", 1)
    manifest = decode(store.payload("manifest", 0), MANIFEST)
    version = manifest.format_version
    check(version in (1, 2, 3, 4), f"unsupported: format {version}")
    check(len(manifest.fingerprint) == 16, "a fingerprint without 16 bytes")
    counts = (manifest.record_count, manifest.byte_count, manifest.damage_count)
    check(max(counts) <= LIMIT and manifest.shard_count < 1 << 32, "counts above the limits")
    check(manifest.id_count <= manifest.record_count * manifest.has_ids, "more ids than records")
    for items in (manifest.columns, manifest.counted_features):
        names = [item.name for item in items]
        check(all(names) and len(set(names)) == len(names), "a name is empty or occurs twice")
    for feature in manifest.counted_features:
        check(ELEMENT.fullmatch(feature.element), f"unknown type of elements {feature.element!r}")
    for column in manifest.columns:
        _check_column(column, manifest)
    return manifest


def _check_column(column, manifest):
    check(not column.name.startswith("@"), f"a lifted column is called {column.name}")
    check(column.type <= BYTES, f"{column.name}: unknown type {column.type}")
    is_right = column.type == SINGLE and manifest.format_version == 4
    check(is_right or not column.is_float64, f"{column.name}: float64 of another type")
    may_have = manifest.format_version > 1 and not column.has_default
    limit = manifest.record_count if may_have else 0
    check(column.null_count <= limit, f"{column.name}: too many nulls")
    column.default = _read_default(column) if column.has_default else None


def _read_default(column):
    """A default is text. Without a type, it has the narrowest type that fits."""
    text = as_text(column.default_value)
    if column.type in (0, INT64) and INTEGER.fullmatch(text) and -LIMIT <= int(text) / 2 < LIMIT:
        return int(text)
    if column.type in (0, SINGLE) and REAL.fullmatch(text):
        return _read_real(text, column.is_float64)
    right = column.type in (0, BYTES) and len(column.default_value) <= 255
    check(right, f"{column.name}: the default is not of the column's type")
    return column.default_value


def _read_real(text, is_float64):
    """What strtod or strtof reads. (Python rounds to float64 first.)"""
    match = REAL.fullmatch(text)
    try:
        value = float.fromhex(text) if match["hex"] else float("nan" if match["nan"] else text)
    except OverflowError:
        value = float("-inf" if "-" in text.split("x")[0] else "inf")
    with np.errstate(over="ignore"):
        return value if is_float64 else float(np.float32(value))


def read_shards(store, manifest):
    """The shards, each with its first record and the start of its image in the concatenation."""
    count = -(-manifest.shard_count // ENTRIES)
    store.check_keys("shards", count)
    shards, record, origin, parts = [], 0, 0, {}
    for i in range(count):
        table = decode(store.payload("shards", i), {1: ("shards", SHARD)}).shards
        right = len(table) == min(ENTRIES, manifest.shard_count - ENTRIES * i)
        check(right, "a table of shards has a wrong size")
        shards += table
    for shard in shards:
        _check_shard(shard)
        _check_part(shard, parts.get(shard.path), manifest.format_version)
        shard.first, shard.origin, shard.damages = record, origin, []
        record, origin = record + shard.record_count, origin + shard.size
        parts[shard.path] = shard
    check(record == manifest.record_count and origin <= LIMIT, "the shards' counts do not add up")
    check(sum(s.file_size - s.start for s in shards) == manifest.byte_count, "sizes do not add up")
    hashes = b"".join(stored(shard.hash) for shard in shards)
    check(stored(xxh3_128(hashes)) == manifest.fingerprint, "the fingerprint is wrong")
    return shards


def _check_shard(shard):
    shard.framing = shard.framing.decode("latin-1")
    name = shard.path.decode("utf-8", "backslashreplace")
    check(FRAMING.fullmatch(shard.framing), f"unsupported: {name} has framing {shard.framing!r}")
    check(shard.compression <= ZLIB, f"{name}: unknown compression {shard.compression}")
    right = len(shard.hash) == 16 and len(shard.samples) <= 32 and shard.sample_step
    check(
        right and b"\0" not in shard.path and shard.path, f"{name}: a wrong path, hash or samples"
    )
    right = max(shard.tail_size, shard.start) <= shard.size
    if shard.compression == PLAIN:
        right = right and shard.size == shard.file_size and shard.point_count == 0
    else:
        right = right and shard.size < 1032 * (shard.file_size + 1)
    check(right, f"{name}: sizes contradict each other")


def _check_part(shard, previous, version):
    """Shards of one path are parts of a file."""
    if previous is None:
        return check(shard.start == 0, "the first part of a file does not start at 0")
    check(version > 2, f"the path {shard.path!r} occurs twice")
    right = shard.compression == previous.compression == PLAIN and shard.framing == previous.framing
    right = right and shard.start == previous.size and CONTINUED.fullmatch(shard.framing)
    return check(right, f"the parts of {shard.path!r} do not continue each other")


def read_damage(store, manifest, shards):
    """Adds (offset, length, reason) of each damaged range to its shard's `damages`."""
    count = -(-manifest.damage_count // ENTRIES)
    store.check_keys("damage", count)
    previous, total = (0, 0), 0
    for i in range(count):
        table = decode(store.payload("damage", i), {1: ("damages", DAMAGE)}).damages
        right = len(table) == min(ENTRIES, manifest.damage_count - ENTRIES * i)
        check(right, "a table of damage has a wrong size")
        for damage in table:
            check(damage.shard < len(shards), "damage of a shard that does not exist")
            shard, end = shards[damage.shard], damage.offset + damage.length
            check(previous <= (damage.shard, damage.offset), "damage is out of order")
            is_sum = shard.compression and damage.offset == shard.size and not damage.length
            inside = shard.start <= damage.offset < end <= shard.size
            check(inside or is_sum, "damage is empty or outside its shard")
            shard.damages.append((damage.offset, damage.length, damage.reason))
            previous, total = (damage.shard, end), total + damage.length
    right = all(len(shard.damages) == shard.damage_count for shard in shards)
    check(right and total == manifest.damaged_byte_count, "the damage does not add up")
