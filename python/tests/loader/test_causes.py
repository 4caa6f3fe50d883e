"""What `why()` names while something is slow: 50 cases with one cause, 30 with two, 20 with none.
RECMAP_TEST_LONG=1 runs all of them, otherwise one of each kind.

A delay is a multiple of the time that the same loader needs for a batch without delays, and the
cause that is named most often while batches are taken is compared. So no time is asserted. If other
processes use the CPUs so much that this is what the loader waits for, the case is tried again with
longer delays, or shorter ones if work must be named. Of two causes, the larger one must be named if
it is at least eight times the other; otherwise either may be.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import decodes_pictures
from disk_space import NO_CACHE_SPACE, has_cache_space

HERE = Path(__file__).resolve().parent
IS_LONG = bool(os.environ.get("RECMAP_TEST_LONG"))
MANY = 8  # times another cause

IMAGES = {"data": "images", "pages": 200}
FIELDS = {"data": "fields", "pages": 320}
PACKED = {"data": "plain.gz", "pages": 900}
READ, THREADS = {"access": "read"}, {"options": {"threads": 4}}
AHEAD = {"options": {"batches_ahead": 4}}
IN_ORDER = {"options": {"shuffle": False}}
CACHED = {"cache": "filled", "filled": True}


def one(cause, name, data, *more, **slow):
    case = {"data": data, "slow": slow} if isinstance(data, str) else {**data, "slow": slow}
    for each in more:
        case.update(each)
    return f"{cause}-{name}", {cause}, case


ONE = [
    one("disk", "mapped", "plain", disk=10),
    one("disk", "threads", "plain", THREADS, disk=10),
    one("disk", "in-order", "plain", IN_ORDER, disk=10),
    one("disk", "read", "plain", READ, disk=10),
    one("disk", "read-threads", "plain", READ, THREADS, disk=10),
    one("disk", "transform", "plain", disk=10, transform=0),
    one("disk", "images", IMAGES, disk=10),
    one("disk", "fields", FIELDS, disk=10),
    one("disk", "packed", PACKED, disk=10),
    one("disk", "of-the-cache", "s3:plain", CACHED, {"slow_file": ".rmcache"}, disk=10),
    one("store", "plain", "s3:plain", store=10),
    one("store", "threads", "s3:plain", THREADS, store=10),
    one("store", "in-order", "s3:plain", IN_ORDER, store=10),
    one("store", "transform", "s3:plain", store=10, transform=0),
    one("store", "images", "s3:images", store=10),
    one("store", "images-threads", "s3:images", THREADS, store=10),
    one("store", "fields", "s3:fields", store=10),
    one("store", "packed", "s3:plain.gz", store=10),
    one("store", "packed-threads", "s3:plain.gz", THREADS, store=10),
    one("store", "cold-cache", "s3:plain", {"cache": "cold"}, store=10),
    one("inflating", "gzip", "plain.gz"),
    one("inflating", "zlib", "plain.zlib"),
    one("inflating", "threads", "plain.gz", THREADS),
    one("inflating", "two-threads", "plain.zlib", {"options": {"threads": 2}}),
    one("inflating", "read", "plain.gz", READ),
    one("inflating", "transform", "plain.gz", transform=0),
    one("inflating", "in-order", "plain.zlib", IN_ORDER),
    one("inflating", "zlib-threads", "plain.zlib", THREADS),
    one("inflating", "locked", "plain.gz", {"cache": "locked", "locked": True}),
    one("images", "mapped", "images"),
    one("images", "ahead", "images", AHEAD),
    one("images", "two-threads", "images", {"options": {"threads": 2}}),
    one("images", "read", "images", READ),
    one("images", "in-order", "images", IN_ORDER),
    one("images", "transform", "images", transform=0),
    one("images", "transform-ahead", "images", AHEAD, transform=0),
    one("images", "cached", "s3:images", {"cache": "images", "filled": True}),
    one("parsing", "fields", "fields"),
    one("parsing", "ahead", "fields", AHEAD),
    one("parsing", "read", "fields", READ),
    one("parsing", "transform", "fields", transform=0),
    one("parsing", "in-order", "fields", IN_ORDER),
    one("parsing", "starved", "fields", {"starved": True}),
    one("transform", "plain", "plain", transform=10),
    one("transform", "threads", "plain", {"options": {"transform_threads": 2}}, transform=20),
    one("transform", "images", "images", transform=10),
    one("transform", "fields", "fields", transform=10),
    one("transform", "packed", "plain.gz", transform=10),
    one("transform", "read", "plain", READ, transform=10),
    one("transform", "cached", "s3:plain", CACHED, transform=10),
]


def two(first, second, data, *shares):
    """Cases in which the first cause is so many times the second; one that takes as long as a batch
    does is the work itself."""
    cases = []
    for share in shares:
        expected = {first} if share >= MANY else {second} if share * MANY <= 1 else {first, second}
        slow = {cause: 1 for cause in (first, second) if cause in ("disk", "store", "transform")}
        slow[first] = share if second not in slow or share >= 1 else 1
        if second in slow and share < 1:
            slow[second] = 1 / share
        cases.append((f"{first}-{second}-{share:g}", expected, {**data, "slow": slow}))
    return cases


PLAIN, BOTH = {"data": "plain"}, {"data": "plain+s3:plain", "pages": 8}
TWO = [
    *two("disk", "transform", PLAIN, 8, 1, 1 / 8),
    *two("store", "transform", {"data": "s3:plain"}, 8, 1, 1 / 8),
    *two("disk", "store", BOTH, 8, 1, 1 / 8),
    *two("transform", "inflating", PACKED, 8, 1, 1 / 8),
    *two("transform", "images", IMAGES, 8, 1, 1 / 8),
    *two("transform", "parsing", FIELDS, 8, 1, 1 / 8),
    *two("disk", "inflating", PACKED, 8, 1, 1 / 8),
    *two("disk", "images", IMAGES, 8, 1, 1 / 8),
    *two("disk", "parsing", FIELDS, 8, 1, 1 / 8),
    *two("store", "inflating", {"data": "s3:plain.gz"}, 8),  # without a delay, the server takes
    *two("store", "images", {"data": "s3:images"}, 8),  # longer than these already
    *two("store", "parsing", {"data": "s3:fields"}, 8),
]


def none(name, data, *more, **slow):
    _, _, case = one("caller", name, data, *more, **slow)
    return f"none-{name}", {"caller", "nothing"}, case


NONE = [
    none("plain", "plain", caller=10),
    none("threads", "plain", THREADS, caller=10),
    none("in-order", "plain", IN_ORDER, caller=10),
    none("read", "plain", READ, caller=10),
    none("transform", "plain", caller=20, transform=1),
    none("images", "images", caller=10),
    none("images-threads", "images", THREADS, caller=10),
    none("fields", "fields", caller=10),
    none("packed", "plain.gz", caller=10),
    none("packed-transform", "plain.zlib", caller=20, transform=1),
    none("store", "s3:plain", caller=20, store=1),
    none("cached", "s3:plain", CACHED, caller=10),
    none("disk", "plain", caller=20, disk=1),
    none("stored-images", "s3:images", caller=10),
    none("new", "plain", {"idle": "new"}),
    none("new-transform", "images", {"idle": "new"}, transform=1),
    none("closed", "plain", {"idle": "closed"}),
    none("closed-transform", "plain.gz", {"idle": "closed"}, transform=1),
    none("ended", "fields", {"idle": "ended"}),
    none("ended-transform", "fields", {"idle": "ended"}, transform=0),
]

CASES = [*ONE, *TWO, *NONE]
SHORT = {
    "disk-mapped",
    "disk-read",
    "store-plain",
    "inflating-gzip",
    "inflating-locked",
    "images-mapped",
    "parsing-fields",
    "transform-plain",
    "disk-transform-8",
    "none-plain",
    "none-closed",
}


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """Runs a case in cause_program.py."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a C compiler, for a library that makes the disk slow")
    folder = tmp_path_factory.mktemp("causes")
    library = folder / "slow_disk.so"
    source = HERE / "slow_disk.c"
    subprocess.run([compiler, "-shared", "-fPIC", source, "-o", library, "-ldl"], check=True)
    paths = [str(HERE.parent), *os.environ.get("PYTHONPATH", "").split(os.pathsep), *sys.path]
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("AWS_")},
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "LD_PRELOAD": str(library),
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    process = subprocess.Popen(
        [sys.executable, HERE / "cause_program.py", folder],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        text=True,
    )

    def run(case):
        process.stdin.write(json.dumps(case) + "\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())

    yield run
    process.stdin.close()
    process.wait(60)
    process.stdout.close()


def limiting_of(cause):
    stages = {
        "transform": "transform",
        "caller": "caller",
        "nothing": "caller",
        "images": "decoding",
    }
    return stages.get(cause, "reading")


def is_explained(found, expected):
    """The statistics say the same about the whole run."""
    if found["limiting"] not in {limiting_of(cause) for cause in expected}:
        return False
    return found["limiting"] not in ("reading", "decoding") or found["share"] in expected


def is_right(found, expected, case):
    """Whether reading or the transform limited a run of a few batches depends on the first ones, so
    if both are slow, the statistics may name either."""
    if found["found"] not in expected:
        return False
    if expected == {"disk"} and case["data"] == "plain" and not found["pending"]:
        return False
    are_both_slow = case["slow"].get("transform") and "caller" not in case["slow"]
    return "idle" in case or are_both_slow or is_explained(found, expected)


@pytest.mark.parametrize(
    ("name", "expected", "case"),
    [case for case in CASES if IS_LONG or case[0] in SHORT],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_cause_is_named(program, name, expected, case):
    if "images" in case["data"] and not decodes_pictures():
        pytest.skip("this build does not decode pictures: RECMAP_WITH_IMAGES=OFF")
    if "cache" in case and not has_cache_space():
        pytest.skip(NO_CACHE_SPACE)
    is_delay = bool(expected & set(case["slow"]))  # what is to be named, rather than work
    for times in (1, 4, 16):
        found = program({**case, "times": times if is_delay else 1 / times})
        if "skipped" in found:
            pytest.skip(found["skipped"])
        if is_right(found, expected, case):
            return
    pytest.fail(f"named {found}, not {' or '.join(expected)}")


def test_there_are_a_hundred_cases():
    assert (len(ONE), len(TWO), len(NONE)) == (50, 30, 20)
    assert {name for name, _, _ in CASES} >= SHORT
    assert len({name for name, _, _ in CASES}) == 100
