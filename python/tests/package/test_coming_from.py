"""The code on the pages about migrating from other loaders runs."""

import re
import shutil

import pytest
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
def test_page(name, tmp_path, monkeypatch):
    page = FOLDER / f"from-{name}.md"
    run_blocks(page, page.read_text(), PAGES[name], tmp_path, monkeypatch)


@pytest.mark.parametrize("name", SECTIONS)
def test_section(name, tmp_path, monkeypatch):
    before, heading, text = OTHERS.read_text().partition(f"\n## {name}\n")
    assert heading
    lines = "\n" * (before.count("\n") + 2)
    text = lines + text.partition("\n## ")[0]
    run_blocks(OTHERS, text, SECTIONS[name], tmp_path, monkeypatch)


def test_pages_are_all_tested():
    found = {page.stem[5:] for page in FOLDER.glob("from-*.md")}
    assert found == {*PAGES, "others", "0.2"}  # the last names old versions of functions
    assert re.findall(r"^## (.*)", OTHERS.read_text(), re.M) == list(SECTIONS)


def test_readme(tmp_path, monkeypatch):
    """What the first page shows, in a folder with the digits where it has them."""
    shutil.copytree(DIGITS, tmp_path / "data" / "digits")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    assert len(blocks) >= 2
    names = {"__name__": "__main__"}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)
    assert len(names["threes"]) and names["image"].shape == (8, 8)
