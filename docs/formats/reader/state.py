"""States of runs: see checkpoint.md."""

import json
from types import SimpleNamespace

from . import FormatError, check
from .message import decode
from .xxh3 import xxh3_64

STATE = {
    1: ("format_version", 0), 2: ("fingerprint", b""), 3: ("record_count", 0),
    4: ("position_count", 0), 5: ("order", ""), 6: ("epoch", 0), 7: ("position", 0),
}  # fmt: skip


def _varint(value):
    """In as few bytes as possible."""
    if value < 0x80:
        return bytes([value])
    return bytes([value & 0x7F | 0x80]) + _varint(value >> 7)


def _field(number, value):
    """A field of a message; nothing if it has its default."""
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value) if value else b""
    return _varint(number << 3 | 2) + _varint(len(value)) + value if value else b""


def encode(state):
    """The values as a protobuf message, of which the checksum is made."""
    fields = {**vars(state), "order": state.order.encode()}
    message = b"".join(_field(number, fields[name]) for number, (name, _) in STATE.items())
    if state.draws is None:
        return message
    draws = _field(1, state.draws)
    return message + _varint(9 << 3 | 2) + _varint(len(draws)) + draws


def _check(state):
    check(state.format_version == 1, f"unsupported: version {state.format_version} of states")
    return state


def read_state(text):
    """A state's JSON, as text or UTF-8."""
    try:
        members = json.loads(text)
        draws, checksum = members.pop("draws", None), members.pop("checksum")
        members["fingerprint"] = bytes.fromhex(members["fingerprint"])
        types = {name: type(value) for name, value in members.items()}
        right = types == {name: type(default) for name, default in STATE.values()}
        check(right, "members are missing, unknown, or of another type")
        state = SimpleNamespace(**members, draws=draws and draws["seed"])
        right = checksum == f"{xxh3_64(encode(state)):016x}"
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
        raise FormatError(f"is not a state: {error!r}") from None
    check(right, "the checksum is wrong: the state was damaged or edited")
    return _check(state)


def read_state_bytes(data):
    """The bytes of a state that recmap 0.2.0 wrote."""
    right = data[-9:-8] == b"\x41" and data[-8:] == xxh3_64(data[:-9]).to_bytes(8, "little")
    check(right, "the checksum is wrong: the state was damaged")
    return _check(SimpleNamespace(**vars(decode(data[:-9], STATE)), draws=None))
