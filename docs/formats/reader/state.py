"""States of runs: see checkpoint.md."""

from types import SimpleNamespace

from .description import parse
from .errors import FormatError, check
from .message import as_text, fields_of, write_varint
from .xxh3 import xxh3_64

LIMIT, TEXT_MAX, ORDER_MAX = 1 << 62, 16 << 20, 4 << 20
NUMBERS = {1: "format_version", 3: "record_count", 4: "position_count", 6: "epoch", 7: "position"}
NAMES = {**NUMBERS, 2: "fingerprint", 5: "order"}
BYTES = 2  # wire type


def _field(number, value):
    if isinstance(value, int):
        return write_varint(number << 3) + write_varint(value) if value else b""
    return write_varint(number << 3 | BYTES) + write_varint(len(value)) + value


def encode(state):
    """The values as a protobuf message, of which the checksum is made."""
    fields = {**vars(state), "order": state.order.encode()}
    message = b"".join(_field(number, fields[NAMES[number]]) for number in sorted(NAMES))
    return message if state.draws is None else message + _field(9, _field(1, state.draws))


def _check(state):
    check(state.format_version == 1, f"unsupported: version {state.format_version} of states")
    counts = (state.record_count, state.position_count, state.epoch)
    check(max(counts) <= LIMIT and state.position <= state.position_count, "a number is too large")
    check(len(state.fingerprint) == 16, "a fingerprint without 16 bytes")
    right = state.order[:1] == "{" and state.order[-1:] == "}"
    check(right and len(state.order.encode()) <= ORDER_MAX, "the order is not a description")
    return state


def _hex(text, size):
    digits = (
        isinstance(text, str) and len(text) == 2 * size and set(text) <= set("0123456789abcdef")
    )
    check(digits, f"a text without {2 * size} hexadecimal digits")
    return bytes.fromhex(text)


def read_state(text):
    """A state's JSON, as text or UTF-8."""
    text = as_text(text) if isinstance(text, bytes) else text
    check(len(text) <= TEXT_MAX, "the state is too long")
    members = parse(text)
    check(isinstance(members, dict), "the state is not an object")
    draws, checksum = members.pop("draws", None), members.pop("checksum", None)
    check(set(members) == set(NAMES.values()), "members of the state are missing, or unknown")
    for name in NUMBERS.values():
        _check_number(members[name])
    if draws is not None:
        check(isinstance(draws, dict) and set(draws) == {"seed"}, "draws is not of a seed")
        _check_number(draws["seed"])
    order, draws = members["order"], draws and draws["seed"]
    check(isinstance(order, str) and order.isprintable is not None, "the order is not a text")
    try:
        order.encode()
    except UnicodeEncodeError:
        raise FormatError("the order is not UTF-8") from None
    members["fingerprint"] = _hex(members["fingerprint"], 16)
    state = SimpleNamespace(**members, draws=draws)
    right = int.from_bytes(_hex(checksum, 8), "big") == xxh3_64(encode(state))
    check(right, "the checksum is wrong: the state was damaged or edited")
    return _check(state)


def _check_number(value):
    is_number = isinstance(value, int) and not isinstance(value, bool)
    check(is_number and 0 <= value < 1 << 64, f"{value!r} is not a number of 64 bits")


def read_state_bytes(data):
    """The bytes of a state that recmap 0.2.0 wrote."""
    check(len(data) > 9 and data[-9] == 8 << 3 | 1, "the state does not end in a checksum")
    right = int.from_bytes(data[-8:], "little") == xxh3_64(data[:-9])
    check(right, "the checksum is wrong: the state was damaged")
    state = SimpleNamespace(**dict.fromkeys(NUMBERS.values(), 0), fingerprint=b"", order=b"")
    for number, wire, value in fields_of(data[:-9]):
        check(number in NAMES and wire == (0 if number in NUMBERS else BYTES), "unknown fields")
        setattr(state, NAMES[number], value)
    state.order, state.draws = as_text(state.order), None
    check(encode(state) == data[:-9], "the state is not written as recmap writes it")
    return _check(state)
