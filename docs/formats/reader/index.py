"""An index, and what it says of the records of a data set."""

import os
import re
from bisect import bisect_right
from functools import lru_cache

import numpy as np

from . import check
from .chunks import COUNTS, OFFSETS, read_blocks, read_column, read_pairs
from .inflate import InflatedImage
from .message import decode
from .shard import check_of, identity, kind_of, read_payload
from .store import Store, map_file
from .xxh3 import xxh3_64, xxh3_128

ENTRIES, RECORDS, VALUES = 1 << 12, 1 << 18, 1 << 16  # of tables, offsets, and columns or counts
FENCES = (1 << 64) - 1
INT64, FLOAT = 1, 2
# The fields of proto/index.proto that are read.
COLUMN = {
    1: ("name", ""), 2: ("type", 0), 3: ("has_default", 0), 4: ("default_value", b""),
    8: ("is_float64", 0),
}  # fmt: skip
MANIFEST = {
    1: ("format_version", 0), 2: ("record_count", 0), 8: ("fingerprint", b""), 9: ("has_ids", 0),
    11: ("columns", COLUMN), 14: ("counted_features", {1: ("name", "")}),
}  # fmt: skip
SHARD = {
    1: ("path", b""), 2: ("size", 0), 4: ("record_count", 0), 5: ("framing", ""), 6: ("hash", b""),
    7: ("samples", []), 8: ("sample_step", 0), 10: ("file_size", 0), 11: ("compression", 0),
    12: ("tail_size", 0), 13: ("point_count", 0),
}  # fmt: skip
DAMAGE = {1: ("shard", 0), 2: ("offset", 0), 3: ("length", 0), 4: ("reason", "")}


def id_hash(value):
    if isinstance(value, int):
        return xxh3_64(value.to_bytes(8, "little", signed=True), 1) >> 16
    return xxh3_64(value) >> 16


def fingerprint_of(shards):
    return xxh3_128(b"".join(shard.hash[::-1] for shard in shards))  # in text order


def find_file(folder, path, allow_absolute):
    """Where a file is that another in `folder` names."""
    check(not re.match(rb"[a-z0-9]+://", path), f"unsupported: the file is remote: {path!r}")
    if path.startswith(b"/"):
        check(allow_absolute, f"the path is absolute, and may name any file: {path!r}")
        return path
    parts = path.split(b"/")
    folders = [os.path.join(folder, *parts[:i]) for i in range(1, len(parts))]
    leaves = {b"", b".", b".."} & set(parts) or any(map(os.path.islink, folders))
    check(not leaves, f"the path leaves its folder: {path!r}")
    full = os.path.join(folder, path)
    owners = {0, os.getuid(), os.stat(full).st_uid}
    check(os.lstat(full).st_uid in owners, f"the link is someone else's: {path!r}")
    return full


def default_of(column):
    """A column's default, which is written as text."""
    text = column.default_value
    if not column.has_default or column.type not in (INT64, FLOAT):
        return text if column.has_default else None
    if column.type == INT64:
        return int(text)
    value = float.fromhex(text.decode()) if b"x" in text.lower() else float(text)
    return value if column.is_float64 else float(np.float32(value))


class Index:
    """`manifest` and `shards` have the names of proto/index.proto.

    Whoever made an index could let it name any file, so absolute paths are errors unless allowed.
    """

    def __init__(self, path, allow_absolute=False):
        self.path, self.allow_absolute = os.fsencode(path), allow_absolute
        self.store = Store(path)
        self.manifest = decode(self.store.payload("manifest", 0), MANIFEST)
        version = self.manifest.format_version
        check(1 <= version <= 4, f"unsupported: format {version}")
        self.shards = self._read_tables("shards", SHARD)
        record = origin = value = 0  # of a shard: its first record, its image, its seek points
        for shard in self.shards:
            shard.kind, shard.damages = kind_of(shard.framing), []
            shard.first, shard.origin = record, origin
            record, origin = record + shard.record_count, origin + shard.size
            end = value + (max(1, -(-shard.point_count // ENTRIES)) if shard.compression else 0)
            shard.point_values, value = range(value, end), end
        for damage in self._read_tables("damage", DAMAGE):
            self.shards[damage.shard].damages.append(damage)
        right = fingerprint_of(self.shards) == self.manifest.fingerprint and record == len(self)
        check(right, "the shards are not those of the manifest")
        self._firsts = [shard.first for shard in self.shards]
        self.offsets, self.image = lru_cache(2)(self.offsets), lru_cache(16)(self.image)

    def __len__(self):
        return self.manifest.record_count

    def _read_tables(self, database, table):
        chunks = range(len(self.store.tables[database]))
        tables = [decode(self.store.payload(database, i), {1: ("entries", table)}) for i in chunks]
        return [entry for table in tables for entry in table.entries]

    # ---- records ----

    def record(self, number):
        """The payload of a record."""
        return self._read(number)[2]

    def check_shard(self, number):
        """Reads all records of a shard, and compares them with its hash."""
        shard, frames = self.shards[number], []
        for record in range(shard.first, shard.first + shard.record_count):
            begin, frame, payload = self._read(record)
            frames.append((begin, len(payload), check_of(shard.kind, frame, payload)))
        right = identity(frames, shard.size) == (shard.hash, shard.samples, shard.sample_step)
        check(right, f"the records of shard {number} are not those that were indexed")

    def _read(self, number):
        """Where a record's frame begins in the image of its shard, the frame, and the payload."""
        if not 0 <= number < len(self):
            raise IndexError(f"there is no record {number}")
        i = bisect_right(self._firsts, number) - 1
        shard = self.shards[i]
        begin = self._offset(number) - shard.origin
        ends = [shard.size - shard.tail_size, *(damage.offset for damage in shard.damages)]
        if number + 1 < shard.first + shard.record_count:
            ends.append(self._offset(number + 1) - shard.origin)
        end = min(end for end in ends if end > begin)
        frame = self.image(i)[begin:end]
        check(len(frame) == end - begin, f"record {number} is past the end of its file")
        return begin, frame, read_payload(shard.kind, frame)

    def _offset(self, number):
        return int(self.offsets(number // RECORDS)[number % RECORDS])

    def offsets(self, chunk):
        """Where the records of a chunk begin in the concatenation of all images."""
        count = min(RECORDS, len(self) - RECORDS * chunk)
        return read_blocks(self.store.payload("offsets", chunk), count, OFFSETS)

    def image(self, number):
        """The image of a shard, to be cut like bytes."""
        shard, folder = self.shards[number], os.path.dirname(self.path)
        # A link to an index may lie elsewhere than the shards.
        first = next((s.path for s in self.shards if not s.path.startswith(b"/")), b"")
        if os.path.islink(self.path) and not os.path.lexists(os.path.join(folder, first)):
            folder = os.path.dirname(os.path.realpath(self.path))
        data = map_file(find_file(folder, shard.path, self.allow_absolute), shard.file_size)
        if not shard.compression:
            return data
        values = [self.store.payload("points", i) for i in shard.point_values]
        return InflatedImage(data, shard.compression, values, shard.size)

    # ---- ids, lifted columns, counts ----

    def candidates(self, value):
        """The numbers of the records whose id has the hash of this one: bytes, or an integer.

        Two ids may have one hash, so the id itself must be compared in the record."""
        check(self.manifest.has_ids, "the index has no ids")
        fences, wanted = np.frombuffer(self.store.payload("ids", FENCES), "<u8"), id_hash(value)
        first, end = np.searchsorted(fences, wanted), np.searchsorted(fences, wanted, "right")
        found = []
        for chunk in range(max(0, int(first) - 1), int(end)):
            hashes, numbers = read_pairs(self.store.payload("ids", chunk), len(self))
            found += numbers[hashes == wanted].tolist()
        return found

    def column(self, name):
        """The values of a lifted column: None for null."""
        columns = self.manifest.columns
        series = [column.name for column in columns].index(name)
        default, values = default_of(columns[series]), []
        for chunk, count in self._chunks():
            values += read_column(self.store.payload("columns", chunk, series), count, default)
        return values

    def counts(self, name):
        """The element counts of a feature."""
        series = [feature.name for feature in self.manifest.counted_features].index(name)
        values = []
        for chunk, count in self._chunks():
            payload = self.store.payload("counts", chunk, series)
            values += read_blocks(payload, count, COUNTS).tolist()
        return values

    def _chunks(self):
        """(number, number of records) of the chunks of lifted columns and of counts."""
        return enumerate(min(VALUES, len(self) - first) for first in range(0, len(self), VALUES))
