"""Mutated indexes: records come, or errors that say what is wrong; in all access modes the same."""

from __future__ import annotations

import os
import subprocess
import warnings

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
        for batch in recmap.Loader(ds, batch_size=7, on_bad_record="skip"):
            for record in batch:
                assert len(bytes(record)) >= 0
    except recmap.Error as error:
        assert str(error)


TEXT = {"text": recmap.FixedLen((), "bytes")}


def errors_of(call, *arguments, **options):
    """What the call returns, or None after an error that says what is wrong."""
    try:
        return call(*arguments, **options)
    except (recmap.Error, KeyError) as error:
        assert str(error)
        return None


def check_parsed(ds, read):
    """What is parsed, also by a loader, are values of the records."""
    good = [number for number, record in enumerate(read) if isinstance(record, bytes)]
    columns = errors_of(ds.parse, good, TEXT) if good else None
    for number, text in zip(good, [] if columns is None else columns["text"], strict=False):
        assert bytes(text) in read[number]
    loader = recmap.Loader(ds, batch_size=7, features=TEXT, epochs=1)
    batches = errors_of(list, loader) or []
    for batch in batches:
        for number, text in zip(batch.numbers.tolist(), batch["text"], strict=True):
            assert not isinstance(read[number], bytes) or bytes(text) in read[number]


def check_found(ds, read):
    """An id leads to a record that has it, or to none."""
    ids = [f"id-{number}" for number in (0, 3, 14, 15, 44, 1000)]
    numbers = [errors_of(ds.find, id) for id in ids]
    together = errors_of(ds.find_many, ids)
    for found in numbers, [] if together is None else together.tolist():
        for id, number in zip(ids, found, strict=bool(found)):
            if number is not None and number >= 0 and isinstance(read[number], bytes):
                assert id.encode() in read[number]


def check_described(ds):
    """Whatever a verification finds, it says what. (It compares the shards with what was indexed,
    so it does not find forged places of records.)"""
    report = errors_of(ds.verify, progress=None)
    assert report is None or all(finding["reason"] for finding in report["damage"])
    for name in ds.columns:
        errors_of(ds.columns.__getitem__, name)
    for name in ds.counts:
        errors_of(ds.counts.__getitem__, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # records of other formats are not described
        errors_of(ds.schema, 5)


@pytest.mark.skipif(not PROGRAM, reason="RECMAP_WRITE_MUTATED names no program")
def test_mutated_indexes_are_refused_or_read_safely(tmp_path):
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
                check_parsed(ds, read)
                check_found(ds, read)
                check_described(ds)
                opened += 1
    assert opened > CASES
