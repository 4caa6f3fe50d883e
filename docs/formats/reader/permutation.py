"""Random words, and the permutations that orders consist of: see order.md."""

from functools import lru_cache

M32, M64 = (1 << 32) - 1, (1 << 64) - 1
G = 0x9E3779B97F4A7C15
TABLE_MAX, ROUNDS = 256, 12


def mix(z):
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & M64
    z = (z ^ z >> 27) * 0x94D049BB133111EB & M64
    return z ^ z >> 31


def state(seed, epoch, stream, n):
    s = 0
    for w in (seed, epoch, stream, n):
        s = mix((s ^ w) + G & M64)
    return s


def word(s, i):
    return mix(s + (i + 1) * G & M64)


def below(w, n):
    """A number in [0, n), each as likely as the others."""
    product, i = w * n, 0
    while product & M64 < (1 << 64) % n:
        product, i = word(w, i) * n, i + 1
    return product >> 64


def _scramble(x, key):
    x ^= key & M32
    x = (x ^ x >> 16) * 0x7FEB352D & M32
    x = (x ^ x >> 15) + (key >> 32) & M32
    x = x * 0x846CA68B & M32
    return x ^ x >> 16


@lru_cache(maxsize=64)
def permutation(n, seed, epoch, kind, index=0):
    """P(n, seed, epoch, stream(kind, index)) of order.md."""
    return Permutation(n, state(seed, epoch, kind << 56 | index, n))


class Permutation:
    """A bijection of [0, n) from the words of a state. Iterated, it yields all of its numbers."""

    def __init__(self, n, s):
        self.n, self.table = n, []
        if n <= TABLE_MAX:
            for i in range(n):
                j = (word(s, i) >> 32) * (i + 1) >> 32
                self.table.append(i)
                self.table[i], self.table[j] = self.table[j], i
        self.k = (n - 1).bit_length() // 2
        self.b = -(-n >> self.k)
        self.keys = [word(s, i) for i in range(ROUNDS)]

    def __iter__(self):
        return map(self, range(self.n))

    def __call__(self, x):
        return self.table[x] if self.table else self._walk(x, range(ROUNDS), 1)

    def inverse(self, x):
        return self.table.index(x) if self.table else self._walk(x, range(ROUNDS)[::-1], -1)

    def _walk(self, x, rounds, sign):
        """Applies the rounds, or undoes them, until the result is below n."""
        while True:
            high, low = x >> self.k, x & (1 << self.k) - 1
            for i in rounds:
                if i % 2:
                    part = _scramble(high, self.keys[i]) >> 32 - self.k
                    low = low + sign * part & (1 << self.k) - 1
                else:
                    part = _scramble(low, self.keys[i]) * self.b >> 32
                    high = (high + sign * part) % self.b
            x = high << self.k | low
            if x < self.n:
                return x
