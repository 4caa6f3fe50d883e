"""The code on the pages about migrating from other loaders runs."""

import itertools
import os
import re
import shutil
import subprocess
import sys
import warnings

import numpy as np
import pytest
import recmap
from conftest import DIGITS, ROOT

PAGES = {
    "tf-data": [],
    "dali": ["nvidia.dali"],
    "webdataset": [],
    "megatron": [],
}
# The sections of from-others.md.
SECTIONS = {
    "ArrayRecord": ["array_record"],
    "bagz": ["bagz"],
    "The tfrecord package": [],
    "MosaicML Streaming": ["streaming"],
    "LitData": ["litdata", "torch"],
    "Grain's packing": ["grain", "grain.experimental"],
}
FOLDER = ROOT / "docs" / "migrate"
OTHERS = FOLDER / "from-others.md"
RELEASE = ROOT / "python" / "tests" / "index" / "release-0.2.0"


def run_blocks(page, text, packages, tmp_path, monkeypatch):
    """Runs the code in the text, which has the lines of the page up to its own."""
    for package in packages:
        pytest.importorskip(package, exc_type=ImportError)
    for shard in DIGITS.glob("*.tfrecord"):
        shutil.copy(shard, tmp_path)
    monkeypatch.chdir(tmp_path)
    blocks = list(re.finditer(r"```python\n(.*?)```", text, re.S))
    assert len(blocks) >= 2
    names = {"__name__": "__main__"}
    for block in blocks:
        lines = "\n" * text[: block.start(1)].count("\n")  # errors name lines of the page
        exec(compile(lines + block[1], page, "exec"), names)


@pytest.mark.parametrize("name", PAGES)
def test_programs_of_the_page_run(name, tmp_path, monkeypatch):
    page = FOLDER / f"from-{name}.md"
    run_blocks(page, page.read_text(), PAGES[name], tmp_path, monkeypatch)


@pytest.mark.parametrize("name", SECTIONS)
def test_programs_of_the_section_run(name, tmp_path, monkeypatch):
    before, heading, text = OTHERS.read_text().partition(f"\n## {name}\n")
    assert heading
    lines = "\n" * (before.count("\n") + 2)
    text = lines + text.partition("\n## ")[0]
    run_blocks(OTHERS, text, SECTIONS[name], tmp_path, monkeypatch)


def test_pages_are_all_tested():
    found = {page.stem[5:] for page in FOLDER.glob("from-*.md")}
    assert found == {*PAGES, "others", "0.2"}


def blocks_of_0_2():
    """The code of 0.2.0 on the page, what replaces it, and the code that is of today only."""
    blocks = re.findall(r"```python\n(.*?)```", (FOLDER / "from-0.2.md").read_text(), re.S)
    old = [block for block in blocks if block.startswith("# 0.2.0\n")]
    now = [block for block in blocks if block.startswith("# now\n")]
    return old, now, [block for block in blocks if block not in old + now]


def run_in(folder, block, monkeypatch):
    """Runs a block in a folder with the digits. Returns its names, and its warnings' categories."""
    if not folder.exists():
        shutil.copytree(DIGITS, folder / "digits")
    names = {"os": os, "recmap": recmap, "features": {"label": recmap.FixedLen((), "int64")}}
    monkeypatch.chdir(folder)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        exec(block, names)
    names = {name: value for name, value in names.items() if not name.startswith("__")}
    return names, {warning.category for warning in caught}


def described(value):
    """What must be equal after code of 0.2.0 and after what replaces it."""
    if isinstance(value, recmap.Dataset):
        return len(value), {name: list(column) for name, column in value.columns.items()}
    if isinstance(value, dict):
        return {name: view.numbers.tolist() for name, view in value.items()}
    batch = next(iter(value)) if isinstance(value, recmap.Loader) else value
    return batch["label"].tolist() if "label" in batch else len(batch)


@pytest.mark.parametrize("number", range(len(blocks_of_0_2()[0])))
def test_code_of_0_2_and_what_replaces_it(number, tmp_path, monkeypatch):
    old, now, _ = blocks_of_0_2()
    assert len(old) == len(now)
    before, warned = run_in(tmp_path / "old", old[number], monkeypatch)
    assert warned == {DeprecationWarning}
    after, warned = run_in(tmp_path / "now", now[number], monkeypatch)
    assert warned == set()
    assert before.keys() == after.keys()
    for name in before.keys() - {"os", "recmap", "features"}:
        assert described(before[name]) == described(after[name]), name


def test_an_index_is_built_once(tmp_path, monkeypatch):
    """Also by two processes at once, and beside columns that were annotated."""
    block, folder = blocks_of_0_2()[1][1], tmp_path / "now"
    shutil.copytree(DIGITS, folder / "digits")
    command = [sys.executable, "-W", "error", "-c", f"import os, recmap\n{block}\nprint(len(ds))"]
    running = [subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE) for _ in range(2)]
    assert [process.communicate()[0] for process in running] == [b"1797\n"] * 2
    names, _ = run_in(folder, block, monkeypatch)
    names["ds"].annotate({"score": np.arange(1797)})
    before = (folder / "digits.rmx").stat()
    names, _ = run_in(folder, block, monkeypatch)
    assert names["ds"].columns["score"][7] == 7
    after = (folder / "digits.rmx").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_run_of_0_2_is_finished(tmp_path, monkeypatch):
    shutil.copytree(RELEASE / "tfds", tmp_path / "mnist")
    (block,) = blocks_of_0_2()[2]
    monkeypatch.chdir(tmp_path)
    with recmap.open("mnist", sets="all") as ds:
        loader = recmap.Loader(ds, 2, shuffle=True, seed=7)
        expected = [batch.numbers.tolist() for batch in itertools.islice(loader, 3)]
        loader = recmap.Loader(ds, 2, shuffle=True, seed=7)
        next(iter(loader))
        names = {"recmap": recmap, "state": loader.state_dict()}
    exec(block.replace("256", "2"), names)
    assert [batch.numbers.tolist() for batch in names["loader"]] == expected[1:]
    assert re.findall(r"^## (.*)", OTHERS.read_text(), re.M) == list(SECTIONS)


def test_programs_of_the_readme_run(tmp_path, monkeypatch):
    """What the first page shows, in a folder with the digits where it has them."""
    shutil.copytree(DIGITS, tmp_path / "data" / "digits")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    assert len(blocks) >= 2
    names = {"__name__": "__main__"}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)
    assert len(names["threes"]) and names["image"].shape == (8, 8)
