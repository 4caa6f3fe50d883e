"""Protobuf messages, by tables of their fields: {number: (name, default)}.

A field has the type of its default: a number, bytes or text. The default of repeated fields is a
list for `fixed32`, and the table of the submessage for messages.
"""

from types import SimpleNamespace

import numpy as np

VARINT, BYTES = 0, 2
SIZES = {1: 8, 5: 4}  # of the other wire types


def read_varint(data, at):
    """A number, and where it ends."""
    value = shift = 0
    while data[at] >= 0x80:
        value |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
    return value | data[at] << shift, at + 1


def fields_of(data):
    """Yields (number, value) of each field: an integer, or the bytes of other wire types."""
    at = 0
    while at < len(data):
        tag, at = read_varint(data, at)
        if tag & 7 == VARINT:
            value, at = read_varint(data, at)
        else:
            size, at = read_varint(data, at) if tag & 7 == BYTES else (SIZES[tag & 7], at)
            value, at = data[at : at + size], at + size
        yield tag >> 3, value


def decode(data, table):
    """The message as a namespace; fields that the table does not have are skipped."""
    message = {name: [] if type(x) in (dict, list) else x for name, x in table.values()}
    for number, value in fields_of(data):
        name, default = table.get(number, (None, None))
        if isinstance(default, dict):
            message[name].append(decode(value, default))
        elif isinstance(default, list):
            message[name] += np.frombuffer(value, "<u4").tolist()
        elif name:
            message[name] = value.decode() if default == "" else value
    return SimpleNamespace(**message)
