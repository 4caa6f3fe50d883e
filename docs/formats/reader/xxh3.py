"""XXH3-64 with seeds and XXH3-128 without, as far as recmap's formats need them.

Written from xxHash's specification (doc/xxhash_spec.md, version 0.2). XXH3-128 lacks inputs of 1 to
3 bytes, which no format hashes with it.
"""

import numpy as np

M32, M64 = (1 << 32) - 1, (1 << 64) - 1
P32_1, P32_2, P32_3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
P64_1, P64_2, P64_3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
P64_4, P64_5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
MX1, MX2 = 0x165667919E3779F9, 0x9FB21C651E98DF25
SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb"
    "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)
STRIPES = 16  # of 64 bytes, in a block


def _read(data, at, size=8):
    return int.from_bytes(data[at : at + size], "little")


def _swap(value, size=8):
    return int.from_bytes(value.to_bytes(size, "little"), "big")


def _fold(a, b):
    product = (a & M64) * (b & M64)
    return product & M64 ^ product >> 64


def _avalanche(h):
    h = ((h & M64) ^ (h & M64) >> 37) * MX1 & M64
    return h ^ h >> 32


def _avalanche_64(h):
    h = (h ^ h >> 33) * P64_2 & M64
    h = (h ^ h >> 29) * P64_3 & M64
    return h ^ h >> 32


def _secret_pair(at):
    return _read(SECRET, at) ^ _read(SECRET, at + 8)


def _mix(data, at, secret, seed=0):
    low, high = _read(data, at), _read(data, at + 8)
    low ^= _read(SECRET, secret) + seed & M64
    return _fold(low, high ^ _read(SECRET, secret + 8) - seed & M64)


def _short_64(data, seed):
    """Of up to 16 bytes."""
    size = len(data)
    if size > 8:
        low = _read(data, 0) ^ _secret_pair(24) + seed & M64
        high = _read(data, size - 8) ^ _secret_pair(40) - seed & M64
        return _avalanche(size + _swap(low) + high + _fold(low, high))
    if size > 3:
        seed ^= _swap(seed & M32, 4) << 32
        h = _read(data, size - 4, 4) | _read(data, 0, 4) << 32
        h ^= _secret_pair(8) - seed & M64
        h ^= (h << 49 | h >> 15) & M64 ^ (h << 24 | h >> 40) & M64
        h = h * MX2 & M64
        h = (h ^ (h >> 35) + size) * MX2 & M64
        return h ^ h >> 28
    if size:
        h = data[0] << 16 | data[size // 2] << 24 | data[-1] | size << 8
        return _avalanche_64(h ^ (_read(SECRET, 0, 4) ^ _read(SECRET, 4, 4)) + seed & M64)
    return _avalanche_64(seed ^ _secret_pair(56))


def _medium_64(data, seed):
    """Of 17 to 240 bytes."""
    size = len(data)
    h = size * P64_1
    if size <= 128:
        for i in range((size - 1) // 32 + 1):
            h += _mix(data, 16 * i, 32 * i, seed)
            h += _mix(data, size - 16 * (i + 1), 32 * i + 16, seed)
        return _avalanche(h)
    h = _avalanche(h + sum(_mix(data, 16 * i, 16 * i, seed) for i in range(8)))
    h += sum(_mix(data, 16 * i, 16 * i - 125, seed) for i in range(8, size // 16))
    return _avalanche(h + _mix(data, size - 16, 119, seed))


def _words(data):
    return np.frombuffer(data, "<u8").reshape(-1, 8)


def _add(sums, stripes, keys):
    """The accumulators after more stripes."""
    keyed = stripes ^ keys
    added = (keyed & M32) * (keyed >> 32) + stripes[:, [1, 0, 3, 2, 5, 4, 7, 6]]
    return sums + added.sum(axis=0, dtype=np.uint64)


def _accumulators(data, secret):
    """The accumulators after all stripes of more than 240 bytes."""
    sums = np.array([P32_3, P64_1, P64_2, P64_3, P64_4, P32_2, P64_5, P32_1], np.uint64)
    keys = np.concatenate([_words(secret[8 * i : 8 * i + 64]) for i in range(STRIPES)])
    scrambling, prime = _words(secret[128:]), np.uint64(P32_1)
    for begin in range(0, len(data) - 1, 64 * STRIPES):
        count = min(STRIPES, (len(data) - 1 - begin) // 64)
        sums = _add(sums, _words(data[begin : begin + 64 * count]), keys[:count])
        if count == STRIPES:
            sums = (sums ^ sums >> 47 ^ scrambling[0]) * prime
    return _add(sums, _words(data[-64:]), _words(secret[121:185])).tolist()


def _merge(sums, secret, at, start):
    keyed = [word ^ _read(secret, at + 8 * i) for i, word in enumerate(sums)]
    return _avalanche(start + sum(map(_fold, keyed[::2], keyed[1::2])))


def xxh3_64(data, seed=0):
    if len(data) <= 16:
        return _short_64(data, seed)
    if len(data) <= 240:
        return _medium_64(data, seed)
    signed = np.array([seed, -seed & M64] * 12, np.uint64)
    secret = (_words(SECRET).ravel() + signed).tobytes()
    return _merge(_accumulators(data, secret), secret, 11, len(data) * P64_1)


def _short_128(data):
    size = len(data)
    if size > 8:
        high = _read(data, size - 8)
        product = (_read(data, 0) ^ high ^ _secret_pair(32)) * P64_1
        low = product + (size - 1 << 54) & M64
        high ^= _secret_pair(48)
        high = (product >> 64) + high + (high & M32) * (P32_2 - 1) & M64
        product = (low ^ _swap(high)) * P64_2
        return _avalanche(product), _avalanche((product >> 64) + high * P64_2)
    if size:
        word = _read(data, 0, 4) | _read(data, size - 4, 4) << 32
        product = (word ^ _secret_pair(16)) * (P64_1 + 4 * size)
        high = (product >> 64) + (product << 1) & M64
        low = product & M64 ^ high >> 3
        low = (low ^ low >> 35) * MX2 & M64
        return low ^ low >> 28, _avalanche(high)
    return _avalanche_64(_secret_pair(64)), _avalanche_64(_secret_pair(80))


def _medium_128(data):
    """Of 17 to 240 bytes. Each step mixes 16 bytes at two places with the secret."""
    size, low, high = len(data), len(data) * P64_1, 0
    if size <= 128:
        count = (size - 1) // 32 + 1
        steps = [(16 * i, size - 16 * (i + 1), 32 * i) for i in reversed(range(count))]
    else:
        steps = [(32 * i, 32 * i + 16, 32 * i - 125 * (i > 3)) for i in range(size // 32)]
        steps.append((size - 16, size - 32, 103))
    for i, (first, second, secret) in enumerate(steps):
        if i == 4:
            low, high = _avalanche(low), _avalanche(high)
        low = low + _mix(data, first, secret) & M64 ^ _sum(data, second)
        high = high + _mix(data, second, secret + 16) & M64 ^ _sum(data, first)
    rest = _avalanche(low * P64_1 + high * P64_4 + size * P64_2)
    return _avalanche(low + high), -rest & M64


def _sum(data, at):
    return _read(data, at) + _read(data, at + 8)


def xxh3_128(data):
    """The hash as it is stored: its bytes in text order are these from the last on."""
    size = len(data)
    if size <= 16:
        low, high = _short_128(data)
    elif size <= 240:
        low, high = _medium_128(data)
    else:
        sums = _accumulators(data, SECRET)
        low = _merge(sums, SECRET, 11, size * P64_1)
        high = _merge(sums, SECRET, 117, ~(size * P64_2))
    return (high << 64 | low).to_bytes(16, "little")


def digest_of(numbers):
    """The digest of an array in descriptions of orders: of 64-bit words, as text."""
    words = b"".join((number & M64).to_bytes(8, "little") for number in numbers)
    return xxh3_128(words)[::-1].hex()
