"""The reader of docs/formats/reader, and the cases of the test vectors."""

import os
from pathlib import Path

FORMATS = Path(__file__).resolve().parents[3] / "docs" / "formats"
READER, VECTORS = FORMATS / "reader", FORMATS / "vectors"
# RECMAP_TEST_SHORT=1 takes the first third of the rounds of a random test, and 2 a ninth.
STEP = {"1": 3, "2": 9}.get(os.environ.get("RECMAP_TEST_SHORT"), 1)


def rounds(count):
    return -(-count // STEP)


def read_cases(name):
    """{case: {key: text}} of a file of vectors; repeated keys continue their value."""
    cases = {}
    for line in (VECTORS / f"{name}.txt").read_text().splitlines():
        key, _, value = line.partition(" ")
        if key == "case":
            fields = cases[value] = {}
        elif key and key != "#":
            fields[key] = f"{fields[key]} {value}" if key in fields else value
    return cases


def numbers_of(text):
    return [int(number) for number in text.split()]


def bytes_of(text):
    return bytes.fromhex(text)
