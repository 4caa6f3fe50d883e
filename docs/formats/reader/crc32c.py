"""CRC-32C (Castagnoli), and TFRecord's mask of it."""


def _entry(value):
    for _ in range(8):
        value = value >> 1 ^ 0x82F63B78 * (value & 1)
    return value


_TABLE = [_entry(value) for value in range(256)]


def crc32c(data):
    value = 0xFFFFFFFF
    for byte in data:
        value = _TABLE[(value ^ byte) & 0xFF] ^ value >> 8
    return value ^ 0xFFFFFFFF


def masked(data):
    value = crc32c(data)
    return (value >> 15 | value << 17 & 0xFFFFFFFF) + 0xA282EAD8 & 0xFFFFFFFF
