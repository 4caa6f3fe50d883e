"""WebDataset's tar files: splits a sample into its files.

With ``framing="tar"`` a record is a part of the archive with one sample. `sample` splits it:

    ds = recmap.open("train-*.tar", framing="tar")
    sample(ds[0])["jpg"]                                    # a memoryview into the mapped shard

    def decode(batch): return [sample(record) for record in batch]
    loader = recmap.Loader(ds, 64, shuffle=True, seed=7, transform=decode)

Keys and names equal those of WebDataset. Values are not decoded. Needs no other package.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ._base.plural import counted

__all__ = ["sample"]


def __dir__() -> list[str]:
    """The public names, for completion."""
    return sorted(__all__)


_BLOCK = 512
_EXTENDED = b"xXLK"
_FILES = b"07\0"
_WITHOUT_DATA = b"123456"


def sample(record: Any) -> dict[str, Any]:
    """The files of a sample by extension: the part of their names after the first dot, lower case.

    ``"__key__"`` is the part before that dot, including folders. Files are views into the record.
    Names are decoded as UTF-8; invalid bytes become surrogates, as in `tarfile`.

    Args:
        record: a record of a data set with the framing "tar", or other bytes of a tar archive with
            one sample.

    Raises:
        ValueError: a file occurs twice, there are files of two samples or none, or the bytes are
            not a tar archive.

    >>> import io, tarfile
    >>> with tarfile.open(folder / "a.tar", "w") as tar:
    ...     for name, data in {"7.txt": b"seven", "7.cls": b"3"}.items():
    ...         entry = tarfile.TarInfo(name)
    ...         entry.size = len(data)
    ...         tar.addfile(entry, io.BytesIO(data))
    >>> ds = recmap.open(folder / "a.tar", framing="tar")
    >>> files = sample(ds[0])
    >>> files["__key__"], bytes(files["txt"]), bytes(files["cls"])
    ('7', b'seven', b'3')
    """
    found: dict[str, Any] = {}
    for name, data in _files(memoryview(record).cast("B")):
        key, extension = _split(name)
        if key is None:
            continue
        if found.setdefault("__key__", key) != key:
            raise ValueError(
                f"the record has files of two samples: {found['__key__']!r} and {key!r}"
            )
        if extension in found:
            raise ValueError(f"the sample {key!r} has two files {extension!r}")
        found[extension] = data
    if not found:
        raise ValueError("the record has no file of a sample: such files have a dot in their names")
    return found


class _Header(NamedTuple):
    """A header of 512 bytes, which describes the member that follows."""

    name: bytes
    own_name: bytes  # without the prefix that ustar may have
    size: int
    kind: int


def _files(archive: memoryview) -> list[tuple[str, memoryview]]:
    """Names and data of the regular files of an archive."""
    files, at, name, size = [], 0, None, None
    while at < len(archive):
        header = _read_header(bytes(archive[at : at + _BLOCK]))
        if header is None:
            break
        at += _BLOCK
        length = header.size if size is None or header.kind in _EXTENDED else size
        # In the oldest archives, a folder is a file whose name ends with a slash.
        is_folder = not header.kind and name is None and header.own_name.endswith(b"/")
        if is_folder or header.kind in _WITHOUT_DATA:
            length = 0
        data = archive[at : at + length]
        if len(data) != length:
            raise ValueError(f"the archive ends inside a member of {counted(length, 'byte')}")
        at += -(-length // _BLOCK) * _BLOCK
        if header.kind in _EXTENDED:  # the first one that names the member is used
            given_name, given_size = _read_extended(header.kind, bytes(data))
            name = given_name if name is None else name
            size = given_size if size is None else size
            continue
        if header.kind in _FILES and not is_folder:
            full = header.name if name is None else name
            files.append((full.decode("utf-8", "surrogateescape"), data))
        name = size = None
    return files


def _read_header(header: bytes) -> _Header | None:
    """Returns None for a block of zeros, which ends an archive."""
    if not any(header):
        return None
    if len(header) < _BLOCK:
        raise ValueError(
            f"the archive ends inside a header: only {counted(len(header), 'byte')} left"
        )
    name = own_name = _text(header[:100])
    if header[257:263] == b"ustar\0" and header[345]:
        name = _text(header[345:500]) + b"/" + name
    return _Header(name, own_name, _number(header[124:136]), header[156])


def _read_extended(kind: int, data: bytes) -> tuple[bytes | None, int | None]:
    """The name and size that an extended header (POSIX or GNU) gives the next member, or None."""
    if kind == ord("L"):
        return _text(data), None
    name = size = None
    at = 0
    while kind in b"xX" and at < len(data) and data[at]:
        digits, _, rest = data[at:].partition(b" ")
        length = int(digits)
        if not len(digits) < length <= len(data) - at:
            raise ValueError("a pax header is invalid")
        keyword, _, value = rest[: length - len(digits) - 2].partition(b"=")
        if keyword == b"path":
            name = value.rstrip(b"/")
        elif keyword == b"size":
            size = max(int(value), 0)
        at += length
    return name, size


def _text(field: bytes) -> bytes:
    return field.partition(b"\0")[0]


def _number(field: bytes) -> int:
    """A number in octal digits, or in base 256 after a byte of 0x80."""
    if field[0] == 0x80:
        return int.from_bytes(field[1:], "big")
    return int(_text(field).strip() or b"0", 8)


def _split(name: str) -> tuple[str | None, str]:
    """(key of the sample, extension), or (None, "") for a file that belongs to no sample."""
    first = name.partition("/")[0]
    if len(first) >= 4 and first.startswith("__") and first.endswith("__"):
        return None, ""
    begin = name.rfind("/") + 1
    if name.startswith("._", begin):  # attributes of a file, which macOS adds
        return None, ""
    base, dot, extension = name[begin:].partition(".")
    if not dot or (not base and not begin):
        return None, ""
    # The key of a name that begins with a dot is its folder, unless that has a dot too.
    if not base and "." in name[: begin - 1].rpartition("/")[2]:
        return None, ""
    return name[:begin] + base, extension.lower()
