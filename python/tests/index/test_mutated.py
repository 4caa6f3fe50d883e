"""Mutated indexes: records come, or errors that say what is wrong; in all access modes the same."""

from __future__ import annotations

import os
import subprocess

import pytest
import recmap

PROGRAM = os.environ.get("RECMAP_WRITE_MUTATED")
CASES = 1000 if os.environ.get("RECMAP_TEST_LONG") else 60


def read_each(ds):
    """The records, and the types of errors in their place."""
    read = []
    for number in range(min(len(ds), 400)):
        try:
            read.append(bytes(ds[number]))
        except recmap.Error as error:
            assert str(error)
            read.append(type(error))
    return read


def check_together(ds, read):
    """A loader and gather give what came one by one."""
    good = [number for number, record in enumerate(read) if isinstance(record, bytes)]
    assert [bytes(record) for record in ds.gather(good)] == [read[number] for number in good]
    try:
        for batch in recmap.Loader(ds, batch_size=7, on_error="skip"):
            for record in batch:
                assert len(bytes(record)) >= 0
    except recmap.Error as error:
        assert str(error)


@pytest.mark.skipif(not PROGRAM, reason="RECMAP_WRITE_MUTATED names no program")
def test_mutated_indexes(tmp_path):
    subprocess.run([PROGRAM, "1", str(CASES)], check=True, cwd=tmp_path)
    opened = 0
    for seed in range(1, CASES + 1):
        due = None
        for access in "map", "read", "direct":
            try:
                ds = recmap.open(tmp_path / f"m{seed:04}.rmx", access=access)
            except recmap.Error as error:
                assert str(error)
                break
            with ds:
                read = read_each(ds)
                assert due is None or read == due, (seed, access)
                due = read
                check_together(ds, read)
                opened += 1
    assert opened > CASES
