"""recmap over WebDataset's tar files: what is in a sample.

With ``framing="tar"`` a record is a sample as it lies in the archive; `sample` takes it apart:

    ds = recmap.open("train-*.tar", framing="tar")
    sample(ds[0])["jpg"]                                    # a memoryview into the mapped shard

    def decode(batch): return [sample(record) for record in batch]
    loader = recmap.Loader(ds, 64, shuffle=True, seed=7, transform=decode)

Keys and names are as WebDataset's own; values are not decoded. Needs nothing but recmap.
"""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["sample"]

_BLOCK = 512
_EXTENDED = b"xXLK"
_FILES = b"07\0"
_WITHOUT_DATA = b"123456"


def sample(record: Any) -> dict[str, Any]:
    """The sample's files by what follows the first dot of their names, in small letters.

    Under ``"__key__"`` stands what comes before that dot, folders included. Files are views into the
    record. Names are taken as UTF-8; what is no UTF-8 in them is kept by surrogates, as in `tarfile`.

    Args:
        record: a record of a data set with the framing "tar", or any bytes of a tar archive that
            hold one sample.

    Raises:
        ValueError: a file is there twice, there are files of two samples or none, or the bytes are
            no tar archive.

    >>> import io, tarfile
    >>> with tarfile.open(folder / "a.tar", "w") as tar:
    ...     for name, data in {"7.txt": b"seven", "7.cls": b"3"}.items():
    ...         entry = tarfile.TarInfo(name)
    ...         entry.size = len(data)
    ...         tar.addfile(entry, io.BytesIO(data))
    >>> ds = recmap.open(folder / "a.tar", framing="tar")
    >>> {name: value if name == "__key__" else bytes(value) for name, value in sample(ds[0]).items()}
    {'__key__': '7', 'txt': b'seven', 'cls': b'3'}
    """
    found: dict[str, Any] = {}
    for name, data in _files(memoryview(record).cast("B")):
        key, extension = _split(name)
        if key is None:
            continue
        if found.setdefault("__key__", key) != key:
            raise ValueError(f"there are two samples: {found['__key__']!r} and {key!r}")
        if extension in found:
            raise ValueError(f"the sample {key!r} has two files {extension!r}")
        found[extension] = data
    if not found:
        raise ValueError("there is no file of a sample, whose name has a dot")
    return found


class _Header(NamedTuple):
    """A header of 512 bytes: what it says of the member behind it."""

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
        # In the oldest archives a folder is a file whose name ends so.
        is_folder = not header.kind and name is None and header.own_name.endswith(b"/")
        if is_folder or header.kind in _WITHOUT_DATA:
            length = 0
        data = archive[at : at + length]
        if len(data) != length:
            raise ValueError(f"the archive ends inside a member of {length} bytes")
        at += -(-length // _BLOCK) * _BLOCK
        if header.kind in _EXTENDED:  # the first that names the member counts
            said_name, said_size = _read_extended(header.kind, bytes(data))
            name = said_name if name is None else name
            size = said_size if size is None else size
            continue
        if header.kind in _FILES and not is_folder:
            full = header.name if name is None else name
            files.append((full.decode("utf-8", "surrogateescape"), data))
        name = size = None
    return files


def _read_header(header: bytes) -> _Header | None:
    """None: a block of zeros, which ends an archive."""
    if not any(header):
        return None
    if len(header) < _BLOCK:
        raise ValueError(f"the archive ends inside a header: {len(header)} bytes are left")
    name = own_name = _text(header[:100])
    if header[257:263] == b"ustar\0" and header[345]:
        name = _text(header[345:500]) + b"/" + name
    return _Header(name, own_name, _number(header[124:136]), header[156])


def _read_extended(kind: int, data: bytes) -> tuple[bytes | None, int | None]:
    """What a header of POSIX or GNU says of the next member: its name and size, where it does."""
    if kind == ord("L"):
        return _text(data), None
    name = size = None
    at = 0
    while kind in b"xX" and at < len(data) and data[at]:
        digits, _, rest = data[at:].partition(b" ")
        length = int(digits)
        if not len(digits) < length <= len(data) - at:
            raise ValueError("a pax header is malformed")
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
    """In octal digits, or, behind a byte of 0x80, in base 256."""
    if field[0] == 0x80:
        return int.from_bytes(field[1:], "big")
    return int(_text(field).strip() or b"0", 8)


def _split(name: str) -> tuple[str | None, str]:
    """The sample's key and the file's extension; no key, where it is no file of a sample."""
    first = name.partition("/")[0]
    if len(first) >= 4 and first.startswith("__") and first.endswith("__"):
        return None, ""
    begin = name.rfind("/") + 1
    base, dot, extension = name[begin:].partition(".")
    if not dot or (not base and not begin):
        return None, ""
    # A name that begins with a dot goes with its folder, unless that has one too.
    if not base and "." in name[: begin - 1].rpartition("/")[2]:
        return None, ""
    return name[:begin] + base, extension.lower()
