"""Protobuf messages, decoded by a table of their fields: {number: (name, kind)}.

A kind is "int", "uint32", "sint", "bool", "bytes", "text", "fixed32s" (repeated), or the table of a
repeated submessage.
"""

import struct
from types import SimpleNamespace

from .errors import FormatError, check

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
NUMBERS = {
    "int": int,
    "uint32": lambda value: value & 0xFFFFFFFF,
    "sint": lambda value: value >> 1 ^ -(value & 1),
    "bool": bool,
}
DEFAULTS = {"bytes": b"", "text": "", "bool": False}


def read_varint(data, at):
    """A number of up to ten bytes, and where it ends."""
    value = 0
    for i, byte in enumerate(data[at : at + 10]):
        value |= (byte & 0x7F) << 7 * i
        if byte < 0x80:
            return value & (1 << 64) - 1, at + i + 1
    raise FormatError("a number of a message does not end")


def write_varint(value):
    """In as few bytes as possible."""
    data = bytearray()
    while value >= 0x80:
        data.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*data, value])


def fields_of(data):
    """Yields (number, wire type, value) of each field."""
    at = 0
    while at < len(data):
        tag, at = read_varint(data, at)
        number, wire = tag >> 3, tag & 7
        check(0 < number < 1 << 29, "a field has a wrong number")
        if wire == VARINT:
            value, at = read_varint(data, at)
        else:
            check(wire in (FIXED64, BYTES, FIXED32), "a field has a wrong type")
            size, at = read_varint(data, at) if wire == BYTES else (8 if wire == FIXED64 else 4, at)
            check(size <= len(data) - at, "a field extends past its message")
            value, at = data[at : at + size], at + size
        yield number, wire, value


def _value(kind, wire, value):
    if kind in NUMBERS:
        check(wire == VARINT, "a field has a wrong type")
        return NUMBERS[kind](value)
    check(wire == BYTES, "a field has a wrong type")
    return as_text(value) if kind == "text" else value


def as_text(data):
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise FormatError("a text is not UTF-8") from None


def decode(data, table):
    """The message as a namespace; fields that the table does not have are skipped."""
    repeated = {"fixed32s"}
    message = SimpleNamespace()
    for name, kind in table.values():
        is_list = isinstance(kind, dict) or kind in repeated
        setattr(message, name, [] if is_list else DEFAULTS.get(kind, 0))
    for number, wire, value in fields_of(data):
        name, kind = table.get(number, (None, None))
        if isinstance(kind, dict):
            getattr(message, name).append(decode(_value("bytes", wire, value), kind))
        elif kind == "fixed32s":
            check(wire in (BYTES, FIXED32) and len(value) % 4 == 0, "a list has a wrong type")
            getattr(message, name).extend(struct.unpack(f"<{len(value) // 4}I", value))
        elif name:
            setattr(message, name, _value(kind, wire, value))
    return message
