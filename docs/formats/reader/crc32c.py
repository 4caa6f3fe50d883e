"""CRC-32C (Castagnoli), and TFRecord's mask of it."""

TABLE = list(range(256))
for _ in range(8):
    TABLE = [value >> 1 ^ 0x82F63B78 * (value & 1) for value in TABLE]


def crc32c(data):
    value = 0xFFFFFFFF
    for byte in data:
        value = TABLE[(value ^ byte) & 0xFF] ^ value >> 8
    return value ^ 0xFFFFFFFF


def masked(data):
    value = crc32c(data)
    return (value >> 15 | value << 17 & 0xFFFFFFFF) + 0xA282EAD8 & 0xFFFFFFFF
