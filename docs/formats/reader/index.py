"""An index, and what it says of the records of a data set."""

import os
import struct
from bisect import bisect_left, bisect_right

from . import chunks
from .errors import FormatError, check
from .manifest import ENTRIES, LIMIT, read_damage, read_manifest, read_shards
from .shard import PLAIN, Points, check_of, find_path, identity, open_image, read_payload
from .store import Store
from .xxh3 import stored, xxh3_64

RECORDS, PAIRS, VALUES = 1 << 18, 1 << 17, 1 << 16  # entries of a chunk
FENCES = (1 << 64) - 1


def id_hash(value):
    if isinstance(value, int):
        return xxh3_64(value.to_bytes(8, "little", signed=True), 1) >> 16
    return xxh3_64(value) >> 16


class Index:
    """`manifest` and `shards` have the names of proto/index.proto.

    Whoever made an index could let it name any file, so absolute paths are errors unless allowed.
    """

    def __init__(self, path, allow_absolute=False, check_hash=True):
        self.path, self.allow_absolute = os.fsencode(path), allow_absolute
        self.store = Store(path, check_hash)
        self.manifest = read_manifest(self.store)
        self.shards = read_shards(self.store, self.manifest)
        read_damage(self.store, self.manifest, self.shards)
        self._check_keys()
        self._firsts = [shard.first for shard in self.shards]
        self._chunks, self._images = {}, {}

    def __len__(self):
        return self.manifest.record_count

    def _check_keys(self):
        manifest, first = self.manifest, 0
        for shard in self.shards:
            shard.point_values = range(first, first)
            if shard.compression != PLAIN:
                count = max(1, -(-shard.point_count // ENTRIES))
                shard.point_values = range(first, first + count)
            first = shard.point_values.stop
        chunk_count = -(-len(self) // VALUES)
        pairs = -(-manifest.id_count // PAIRS)
        tables = {
            "offsets": (-(-len(self) // RECORDS), 1),
            "columns": (chunk_count, len(manifest.columns)),
            "counts": (chunk_count, len(manifest.counted_features)),
            "points": (first, 1),
        }
        for name, (count, series) in tables.items():
            self.store.check_keys(name, count, series)
        self.store.check_keys("ids", pairs, 1, [(FENCES, 0)] * manifest.has_ids)

    # ---- records ----

    def locate(self, number):
        """The shard of a record, and where its frame begins and ends in the shard's image."""
        if not 0 <= number < len(self):
            raise IndexError(f"there is no record {number}")
        shard = self.shards[bisect_right(self._firsts, number) - 1]
        begin = self._offset(number) - shard.origin
        end = shard.size - shard.tail_size
        check(shard.start <= begin < end, f"record {number} is outside its shard")
        if number + 1 < shard.first + shard.record_count:
            end = self._offset(number + 1) - shard.origin
        for offset, length, _ in shard.damages:
            if length and offset + length > begin:
                end = min(end, offset)
                break
        check(begin < end <= shard.size, f"record {number} ends before it begins, or is damaged")
        return shard, begin, end

    def record(self, number):
        """The payload of a record."""
        shard, begin, end = self.locate(number)
        frame = self._image(shard)[begin:end]
        check(len(frame) == end - begin, f"record {number} is past the end of its file")
        return read_payload(shard.framing, frame)

    def check_shard(self, number):
        """Reads all records of a shard, and compares them with its hash."""
        shard, frames = self.shards[number], []
        for record in range(shard.first, shard.first + shard.record_count):
            _, begin, end = self.locate(record)
            frame = self._image(shard)[begin:end]
            payload = read_payload(shard.framing, frame)
            frames.append((begin, len(payload), check_of(shard.framing, frame, payload)))
        digest, samples, step = identity(frames, shard.size)
        right = (stored(digest), samples, step) == (shard.hash, shard.samples, shard.sample_step)
        check(right, f"the records of shard {number} are not those that were indexed")

    def _offset(self, number):
        chunk, entry = divmod(number, RECORDS)
        if chunk not in self._chunks:
            if len(self._chunks) > 1:
                self._chunks.clear()
            count = min(RECORDS, len(self) - RECORDS * chunk)
            offsets, first_shards = chunks.read_offsets(self.store.payload("offsets", chunk), count)
            check(all(map(int.__lt__, offsets, offsets[1:])), "offsets do not ascend")
            for i, first_shard in enumerate(first_shards):
                record = RECORDS * chunk + chunks.BLOCK * i
                right = first_shard == bisect_right(self._firsts, record) - 1
                check(right, "a block of offsets names another shard than its first record's")
            self._chunks[chunk] = offsets
        return self._chunks[chunk][entry]

    def _image(self, shard):
        """The image of a shard's file; the last 16 stay open."""
        if shard.path not in self._images:
            if len(self._images) > 15:
                self._images.clear()
            path = find_path(self._folder(), shard.path, self.allow_absolute)
            self._images[shard.path] = open_image(path, shard, self._points(shard))
        return self._images[shard.path]

    def _folder(self):
        """Where relative paths begin: a link to an index may lie elsewhere than its shards."""
        folder = os.path.dirname(self.path)
        first = next((s.path for s in self.shards if not s.path.startswith(b"/")), b"")
        if os.path.islink(self.path) and not os.path.lexists(os.path.join(folder, first)):
            return os.path.dirname(os.path.realpath(self.path))
        return folder

    def _points(self, shard):
        if shard.compression == PLAIN:
            return None
        values = [self.store.payload("points", i) for i in shard.point_values]
        points = Points(values, shard.size, shard.file_size)
        check(len(points.bits) == shard.point_count, "a wrong number of seek points")
        return points

    # ---- ids, lifted columns, counts ----

    def candidates(self, value):
        """The numbers of the records whose id has the hash of this one: bytes, or an integer.

        Two ids may have one hash, so the id itself must be compared in the record."""
        check(self.manifest.has_ids, "the index has no ids")
        count, wanted, found = -(-self.manifest.id_count // PAIRS), id_hash(value), []
        fences = self.store.payload("ids", FENCES)
        check(len(fences) == 8 * count, "a wrong number of fences")
        fences = struct.unpack(f"<{count}Q", fences)
        for chunk in range(max(0, bisect_left(fences, wanted) - 1), count):
            size = min(PAIRS, self.manifest.id_count - PAIRS * chunk)
            payload = self.store.payload("ids", chunk)
            pairs = chunks.read_pairs(payload, size, len(self))
            right = pairs[0][0] == fences[chunk] and pairs == sorted(set(pairs))
            check(right, "pairs of ids are out of order, or their fence is wrong")
            found += [number for digest, number in pairs if digest == wanted]
            if pairs[-1][0] > wanted:
                break
        return found

    def column(self, name):
        """The values of a lifted column: None for null."""
        series, column = _find(self.manifest.columns, name)
        values = []
        for chunk in range(-(-len(self) // VALUES)):
            payload = self.store.payload("columns", chunk, series)
            count = min(VALUES, len(self) - VALUES * chunk)
            piece, kind = chunks.read_column(payload, count, column.default)
            right = kind in (0, 4 if column.is_float64 else column.type)
            check(right, f"{name}: a chunk of another type")
            check(self.manifest.format_version > 1 or not payload[2], f"{name}: flags in format 1")
            values += piece
        nulls = sum(value is None for value in values)
        check(nulls == column.null_count, f"{name}: {nulls} nulls instead of {column.null_count}")
        return values

    def counts(self, name):
        """The element counts of a feature."""
        series, _ = _find(self.manifest.counted_features, name)
        values = []
        for chunk in range(-(-len(self) // VALUES)):
            count = min(VALUES, len(self) - VALUES * chunk)
            values += chunks.read_counts(self.store.payload("counts", chunk, series), count)
        check(sum(values) <= LIMIT, f"{name}: the sum of the counts is above 2^62")
        return values


def _find(items, name):
    for series, item in enumerate(items):
        if item.name == name:
            return series, item
    raise FormatError(f"the index has no {name!r}: it has {[item.name for item in items]}")
