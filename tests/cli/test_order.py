"""recmap order, and recmap cat in order: shuffled, from any position, shared among ranks."""

import base64
import json
import os
import re
import signal
import subprocess
import unittest

from support import (
    COMMAND,
    DIGITS,
    EXAMPLES,
    ROOT,
    CliTest,
    no_records,
    parse_tfrecord,
    signals_as_usual,
    tfrecord,
)

DIGIT_COUNT = 1797

# Of the digits: shuffled by seed 7, at position 640 of epoch 0.
STATE = (
    '{"format_version":1,"fingerprint":"1135103123167f69b3e5a328ddb2ef09","record_count":1797,'
    '"position_count":1797,"order":"{\\"kind\\":\\"shuffled\\",\\"n\\":1797,\\"seed\\":7}",'
    '"epoch":0,"position":640,"checksum":"f94a9655aba1346e"}'
)


def mix(z):
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
    return z ^ z >> 31


class Shuffle:
    """An epoch of a shuffled order, implemented from docs/formats/order.md."""

    def __init__(self, n, seed=0, epoch=0):
        golden = 0x9E3779B97F4A7C15
        state = 0
        for word in (seed, epoch, 0, n):
            state = mix(((state ^ word) + golden) % 2**64)
        self.n = n
        self.words = [mix((state + (i + 1) * golden) % 2**64) for i in range(max(12, min(n, 256)))]

    def numbers(self):
        if self.n > 256:
            return [self.walk(i) for i in range(self.n)]
        table = []
        for i in range(self.n):
            j = (self.words[i] >> 32) * (i + 1) >> 32
            table.append(i)
            table[i], table[j] = table[j], i
        return table

    def walk(self, x):
        bits = (self.n - 1).bit_length() // 2
        b = -(-self.n >> bits)
        while True:
            high, low = x >> bits, x % 2**bits
            for i in range(0, 12, 2):
                high = (high + (scramble(low, self.words[i]) * b >> 32)) % b
                low = (low + (scramble(high, self.words[i + 1]) >> 32 - bits)) % 2**bits
            x = high << bits | low
            if x < self.n:
                return x


def scramble(x, key):
    x ^= key % 2**32
    x ^= x >> 16
    x = x * 0x7FEB352D % 2**32
    x ^= x >> 15
    x = (x + (key >> 32)) * 0x846CA68B % 2**32
    return x ^ x >> 16


def lines(numbers):
    return "".join(f"{number}\n" for number in numbers)


def deal(epoch, start, world, batch, last):
    """The numbers of each rank, as docs/formats/order.md specifies."""
    ranks = [[] for _ in range(world)]
    at, n = start, len(epoch)
    while n - at >= world * batch or (n > at and last == "pad"):
        for rank in range(world):
            first = at + rank * batch
            ranks[rank] += [epoch[p % n] for p in range(first, first + batch)]
        at += world * batch
    left = n - at if last == "keep" else 0
    for rank in range(world):
        more = left // world + (rank < left % world)
        ranks[rank] += epoch[at : at + more]
        at += more
    return ranks


class Orders(CliTest):
    """On the digits of data/."""

    def setUp(self):
        super().setUp()
        self.index("-o", "d.rmx", DIGITS)
        self.records = []
        for name in sorted(os.listdir(DIGITS)):
            if name.endswith(".tfrecord"):
                with open(os.path.join(DIGITS, name), "rb") as file:
                    self.records += parse_tfrecord(file.read())
        self.assertEqual(len(self.records), DIGIT_COUNT)

    def test_the_order_is_sequential_by_default(self):
        self.check("order", "d.rmx", out=lines(range(DIGIT_COUNT)))
        self.check("order", "d.rmx", "--from", "5", "--count", "3", out="5\n6\n7\n")
        self.check("order", "d.rmx", "--from", str(DIGIT_COUNT), out="")
        self.check("order", "d.rmx", "--count", "0", out="")
        self.check("order", "d.rmx", "--from=1796", f"--count={2**64 - 1}", out="1796\n")

    def test_shuffled_as_specified(self):
        whole = Shuffle(DIGIT_COUNT).numbers()
        self.assertEqual(sorted(whole), list(range(DIGIT_COUNT)))
        self.check("order", "d.rmx", "--shuffle", out=lines(whole))
        self.check("order", "d.rmx", "--shuffle", "--seed", "0", "--epoch", "0", out=lines(whole))
        for seed, epoch in ((1, 0), (0, 1), (7, 3), (2**64 - 1, 2**64 - 1)):
            numbers = Shuffle(DIGIT_COUNT, seed, epoch).numbers()
            self.assertEqual(sorted(numbers), list(range(DIGIT_COUNT)))
            self.assertNotEqual(numbers, whole)
            for command in (["order"], ["cat", "--format", "number"]):
                self.check(
                    *command,
                    "d.rmx",
                    "--shuffle",
                    f"--seed={seed}",
                    f"--epoch={epoch}",
                    out=lines(numbers),
                )

    def test_every_format_follows_the_order(self):
        numbers = Shuffle(DIGIT_COUNT, 7, 1).numbers()
        shuffled = [self.records[i] for i in numbers]
        order = ["d.rmx", "--shuffle", "--seed", "7", "--epoch", "1"]
        for access in ("map", "read"):
            self.check("cat", *order, "--access", access, out=b"".join(shuffled))
        framed = self.run_recmap("cat", *order, "--format", "tfrecord", "-o", "out.tfrecord")
        self.assertEqual((framed.err, framed.out, framed.status), (b"", b"", 0))
        self.assertEqual(parse_tfrecord(self.read("out.tfrecord")), shuffled)
        out = self.run_recmap("cat", *order, "--format", "json").out
        ids = [
            json.loads(line)["features"]["feature"]["id"]["bytesList"]["value"][0]
            for line in out.splitlines()
        ]
        self.assertEqual(
            [base64.b64decode(word).decode() for word in ids],
            [f"digit-{number:05}" for number in numbers],
        )

    def test_an_order_resumes_at_any_position(self):
        for order in ([], ["--shuffle"], ["--shuffle", "--seed=3", "--epoch=2"]):
            for form in ("raw", "tfrecord", "number"):
                words = ["cat", "d.rmx", *order, "--format", form]
                whole = self.run_recmap(*words).out
                # Batches are of 256 records, four shards begin at other places.
                for k in (0, 1, 255, 256, 257, 898, 1024, 1796, 1797):
                    first = self.run_recmap(*words, "--count", str(k))
                    rest = self.run_recmap(*words, "--from", str(k))
                    self.assertEqual((first.status, rest.status), (0, 0))
                    self.assertTrue(first.out + rest.out == whole, (words, k))

    def test_ranks_share_the_rest(self):
        epoch = Shuffle(DIGIT_COUNT, 5, 0).numbers()
        for start, world, batch, last in (
            (0, 1, 7, "keep"),
            (0, 2, 64, "drop"),
            (0, 3, 100, "pad"),
            (1000, 4, 32, "keep"),
            (1000, 4, 32, "drop"),
            (1000, 4, 32, "pad"),
            (1795, 4, 1, "keep"),
            (1795, 4, 1, "pad"),
            (0, 3, 2500, "pad"),
            (1797, 2, 8, "pad"),
        ):
            expected = deal(epoch, start, world, batch, last)
            for rank, numbers in enumerate(expected):
                words = [
                    "--shuffle",
                    "--seed=5",
                    f"--from={start}",
                    f"--rank={rank}",
                    f"--world-size={world}",
                    f"--batch-size={batch}",
                    f"--last={last}",
                ]
                self.check("order", "d.rmx", *words, out=lines(numbers))
                self.check("cat", "d.rmx", *words, out=b"".join(self.records[i] for i in numbers))
                self.check("order", "d.rmx", *words, "--count=40", out=lines(numbers[:40]))
            together = sorted(sum(expected, []))
            if last == "keep":
                self.assertEqual(together, sorted(epoch[start:]))
            elif last == "drop":
                whole = (DIGIT_COUNT - start) // (world * batch) * world * batch
                self.assertEqual(together, sorted(epoch[start : start + whole]))
            else:
                self.assertEqual({len(numbers) for numbers in expected}, {len(expected[0])})

    def test_steps_of_a_run(self):
        for last in ("keep", "drop", "pad"):
            words = ["order", "d.rmx", "--shuffle", "--seed=5", "--world-size=3", f"--last={last}"]
            words.append("--batch-size=100")
            for rank in range(3):
                run = []
                for epoch, start in ((1, 600), (2, 0)):
                    mine = deal(Shuffle(DIGIT_COUNT, 5, epoch).numbers(), start, 3, 100, last)[rank]
                    run += [mine[i : i + 100] for i in range(0, len(mine), 100)]
                for step in range(rank, len(run), 4):
                    start = ["--epoch=1", "--from=600", f"--step={step}"]
                    self.check(*words, *start, f"--rank={rank}", out=lines(run[step]))
        whole = Shuffle(DIGIT_COUNT, 5, 1).numbers()
        self.check(*words, "--epoch=1", "--step=2", out=lines(whole[600:900]))

    def test_steps_after_a_state(self):
        self.write("state.json", STATE.encode())
        epochs = [Shuffle(DIGIT_COUNT, 7, epoch).numbers() for epoch in (0, 1)]
        words = ["order", "d.rmx", "--state=state.json", "--world-size=2", "--batch-size=48"]
        self.check(*words, "--rank=1", "--step=0", out=lines(epochs[0][688:736]))
        self.check(*words, "--step=1", out=lines(epochs[0][736:832]))
        self.check(*words, "--rank=0", "--step=13", out=lines(epochs[1][:48]))

    def test_states_that_do_not_fit(self):
        self.write("state.json", STATE.encode())
        self.write("a", tfrecord([b"x"] * 3))
        self.index("a")
        words = ["--state=state.json", "--step=0", "--world-size=1", "--batch-size=1"]
        self.assertIn(
            b"state.json: another data set", self.run_recmap("order", "a.rmx", *words).err
        )
        self.write("state.json", STATE.replace("640", "641").encode())
        self.assertIn(b"state.json: ", self.run_recmap("order", "d.rmx", *words).err)
        os.remove(self.path("state.json"))
        self.assertIn(b"state.json: ", self.run_recmap("order", "d.rmx", *words).err)

    def test_resumed_by_another_world(self):
        """Three ranks make four steps, two use the rest. Each record is used once."""
        words = ["order", "d.rmx", "--shuffle", "--epoch=4"]
        seen = []
        for rank in range(3):
            seen += self.run_recmap(
                *words, f"--rank={rank}", "--world-size=3", "--batch-size=50", "--count=200"
            ).out.split()
        for rank in range(2):
            seen += self.run_recmap(
                *words, f"--rank={rank}", "--world-size=2", "--batch-size=64", "--from=600"
            ).out.split()
        self.assertEqual(sorted(map(int, seen)), list(range(DIGIT_COUNT)))

    def test_keep_is_what_ranks_do(self):
        words = ["order", "d.rmx", "--from=1790", "--rank=1", "--world-size=2", "--batch-size=2"]
        self.check(*words, out="1792\n1793\n1796\n")
        self.check(*words, "--last=keep", out="1792\n1793\n1796\n")

    def test_position_of_a_record(self):
        for order, numbers in (
            ([], range(DIGIT_COUNT)),
            (["--shuffle"], Shuffle(DIGIT_COUNT).numbers()),
            (["--shuffle", "--seed=9", "--epoch=8"], Shuffle(DIGIT_COUNT, 9, 8).numbers()),
        ):
            for position in (0, 1, 42, 900, 1796):
                self.check(
                    "order",
                    "d.rmx",
                    *order,
                    "--position-of",
                    str(numbers[position]),
                    out=f"{position}\n",
                )
            for absent in (DIGIT_COUNT, 2**64 - 1):
                self.check(
                    "order",
                    "d.rmx",
                    *order,
                    "--position-of",
                    str(absent),
                    status=2,
                    err=f"recmap: d.rmx: record {absent} is out of range: the data set "
                    "has records 0 to 1796\n  records are numbered from 0, in the order "
                    "of the shards\n",
                )


class SmallOrders(CliTest):
    def test_every_small_count(self):
        for n in (1, 2, 3, 8, 255, 256, 257, 300):
            self.write("a", tfrecord([b"x"] * n))
            self.index("a")
            for epoch in range(2):
                self.check(
                    "order",
                    "a.rmx",
                    "--shuffle",
                    "--seed=7",
                    f"--epoch={epoch}",
                    out=lines(Shuffle(n, 7, epoch).numbers()),
                )

    def test_orders_match_the_vectors(self):
        """docs/formats/vectors holds whole epochs of 300 records with seed 7."""
        with open(
            os.path.join(ROOT, "docs", "formats", "vectors", "order-kinds.txt"), encoding="ascii"
        ) as file:
            case = re.search(r"^case shuffled\n(.*?)(?=^case )", file.read(), re.M | re.S)[1]
        self.assertIn("\nn 300\nseed 7\n", case)
        self.write("a", tfrecord([b"x"] * 300))
        self.index("a")
        for epoch in range(2):
            numbers = " ".join(re.findall(rf"^epoch-{epoch} (.*)$", case, re.M)).split()
            self.assertEqual(len(numbers), 300)
            self.check(
                "order", "a.rmx", "--shuffle", "--seed=7", f"--epoch={epoch}", out=lines(numbers)
            )

    def test_orders_of_no_records_are_empty(self):
        self.write("a", b"")
        self.index("a", err=no_records("a.rmx"))
        for words in (
            [],
            ["--shuffle"],
            ["--shuffle", "--rank=0", "--world-size=2", "--batch-size=3", "--last=pad"],
        ):
            for command in (["order"], ["cat"], ["cat", "--format=number"]):
                self.check(*command, "a.rmx", *words, out="")
        self.check(
            "order",
            "a.rmx",
            "--position-of=0",
            status=2,
            err="recmap: a.rmx: record 0 is out of range: the data set has no records\n"
            "  records are numbered from 0, in the order of the shards\n",
        )

    def test_batches_of_large_records(self):
        """A batch also ends at 16 MiB."""
        self.write(
            "a",
            tfrecord([bytes(6 << 20)]) * 2
            + tfrecord([b"x"])
            + tfrecord([bytes(1)])
            + tfrecord([bytes(11 << 20)]) * 2,
        )
        self.index("a")
        sizes = [6 << 20, 6 << 20, 1, 1, 11 << 20, 11 << 20]
        for seed in range(3):
            out = self.run_recmap("cat", "a.rmx", "--shuffle", f"--seed={seed}").out
            numbers = Shuffle(6, seed).numbers()
            at = sum(sizes[i] for i in numbers[: numbers.index(2)])
            self.assertEqual((len(out), out.index(b"x")), (sum(sizes), at))

    def test_order_reads_no_data(self):
        self.write("a", tfrecord(EXAMPLES))
        self.index("a")
        os.remove(self.path("a"))
        self.check("order", "a.rmx", "--shuffle", out=lines(Shuffle(5).numbers()))
        self.check("cat", "a.rmx", "--shuffle", "--format=number", out=lines(Shuffle(5).numbers()))
        self.assertEqual(self.run_recmap("cat", "a.rmx", "--shuffle").status, 4)


class Interrupted(CliTest):
    def test_killed_and_resumed(self):
        """Kills cat on the way: the complete lines before the kill and the rest are all records."""
        n = 50000
        self.write("a", tfrecord([b"x"]) * n)
        self.index("a")
        words = ["cat", "a.rmx", "--shuffle", "--format", "number"]
        for taken in (1, 100, 5000, 30000):
            process = subprocess.Popen(
                [COMMAND, *words],
                cwd=self.folder,
                stdout=subprocess.PIPE,
                preexec_fn=signals_as_usual,
            )
            # The output is larger than a pipe, so the command blocks.
            with process.stdout:
                first = b"".join(process.stdout.readline() for _ in range(taken))
                process.kill()
                first += process.stdout.read()
            self.assertEqual(process.wait(timeout=60), -signal.SIGKILL)
            first = first[: first.rindex(b"\n") + 1]
            position = first.count(b"\n")
            self.assertTrue(taken <= position < n)
            rest = self.run_recmap(*words, "--from", str(position))
            self.assertTrue(first + rest.out == lines(Shuffle(n).numbers()).encode(), position)

    def test_a_reader_that_stops(self):
        self.write("a", tfrecord([b"x"]) * 50000)
        self.index("a")
        expected = lines(Shuffle(50000).numbers()[:3])
        for command in ("order --shuffle", "cat --shuffle --format number"):
            done = subprocess.run(
                f'"{COMMAND}" {command} a.rmx | head -n 3',
                shell=True,
                cwd=self.folder,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                check=True,
                preexec_fn=signals_as_usual,
            )
            self.assertEqual((done.stdout.decode(), done.stderr), (expected, b""))


class WrongOrders(CliTest):
    def setUp(self):
        super().setUp()
        self.write("a", tfrecord([b"x"] * 3))
        self.index("a")

    def check_both(self, *words, what):
        for command in ("order", "cat"):
            self.check_wrong(command, "a.rmx", *words, what=what)

    def test_options_that_require_others(self):
        for option in ("seed", "epoch"):
            self.check_both(f"--{option}=1", what=f"--{option} requires --shuffle")
        ranks = ["--rank=0", "--world-size=2", "--batch-size=1"]
        for words in (ranks[:1], ranks[1:2], ranks[2:], ranks[:2], ranks[1:], ranks[::2]):
            self.check_both(
                *words,
                "--last=pad",
                what="--rank, --world-size and --batch-size must be given together",
            )
        self.check_both("--last=drop", what="--last requires --rank, --world-size and --batch-size")
        for word in ("--from=1", "--count=1", *ranks, "--last=keep"):
            others = [other for other in ranks if other != word]
            words = [word, *(others if word in (*ranks, "--last=keep") else [])]
            self.check_wrong(
                "order",
                "a.rmx",
                "--position-of=1",
                *words,
                what=("--position-of can only be combined with --shuffle, --seed and --epoch"),
            )

    def test_steps_need_their_options(self):
        step = ["--step=1", "--world-size=2", "--batch-size=1"]
        for words, what in (
            (step[:1], "--step requires --world-size and --batch-size"),
            (step[:2], "--step requires --world-size and --batch-size"),
            ([*step, "--count=3"], "--step and --count cannot be combined"),
            ([*step, "--describe"], "--describe and --step cannot be combined"),
            (["--state=s"], "--state requires --step"),
        ):
            self.check_wrong("order", "a.rmx", *words, what=what)
        for word in ("--shuffle", "--from=1", "--packed=3"):
            result = self.run_recmap("order", "a.rmx", "--state=s", *step, word)
            self.assertIn(b"--state already says which order", result.err)
        result = self.run_recmap("order", "a.rmx", *step[:2], "--batch-size=9", "--last=drop")
        self.assertIn(b"an epoch has no steps", result.err)

    def test_impossible_values_are_refused(self):
        self.check_both(
            "--rank=2",
            "--world-size=2",
            "--batch-size=1",
            what="--rank must be less than --world-size, not 2 of 2",
        )
        self.check_both(
            "--rank=0", "--world-size=0", "--batch-size=1", what="--world-size must be at least 1"
        )
        self.check_both(
            "--rank=0", "--world-size=1", "--batch-size=0", what="--batch-size must be at least 1"
        )
        self.check_both("--last=none", what="invalid --last 'none': use keep, drop or pad")
        self.check_both("--last=", what="invalid --last '': use keep, drop or pad")
        self.check_both("--from=4", what="--from must be at most 3, the number of records, not 4")
        self.check_both(
            "--world-size=4294967296",
            what="--world-size must be at most 4294967295, not 4294967296",
        )
        for name in ("seed", "epoch", "from", "count", "rank", "world-size", "batch-size"):
            self.check_both(
                "--shuffle", f"--{name}=-1", what=f"--{name} must not be negative, but is -1"
            )
            self.check_both(f"--{name}", what=f"option '--{name}' needs an argument")
        self.check_wrong(
            "order",
            "a.rmx",
            "--position-of",
            "x",
            what="--position-of must be a whole number, not 'x'",
        )
        self.check_both("--shuffle=7", what="option '--shuffle' takes no argument")
        self.check_wrong("order", what="no index given")
        self.check_wrong("order", "a.rmx", "b.rmx", what="only one index can be given")
        for command in ("order", "cat"):
            self.check(
                command,
                "a.rmx",
                "--rank=0",
                "--world-size=2",
                f"--batch-size={2**62}",
                status=2,
                err=f"recmap: batches of {2**62} records on 2 ranks are too large\n",
            )


if __name__ == "__main__":
    unittest.main()
