"""The code on the pages about migrating from other loaders runs."""

import re
import shutil

import pytest
from conftest import DIGITS, ROOT

PAGES = {
    "tf-data": [],
    "dali": ["nvidia.dali"],
    "webdataset": [],
    "arrayrecord": ["array_record"],
    "bagz": ["bagz"],
    "tfrecord": [],
    "grain": ["grain", "grain.experimental"],
    "litdata": ["litdata", "torch"],
    "megatron": [],
    "streaming": ["streaming"],
}


@pytest.mark.parametrize("name", PAGES)
def test_page(name, tmp_path, monkeypatch):
    page = ROOT / "docs" / "python" / f"from-{name}.md"
    for package in PAGES[name]:
        pytest.importorskip(package, exc_type=ImportError)
    for shard in DIGITS.glob("*.tfrecord"):
        shutil.copy(shard, tmp_path)
    monkeypatch.chdir(tmp_path)
    text = page.read_text()
    blocks = list(re.finditer(r"```python\n(.*?)```", text, re.S))
    assert len(blocks) >= 2
    names = {"__name__": "__main__"}
    for block in blocks:
        lines = "\n" * text[: block.start(1)].count("\n")  # errors name lines of the page
        exec(compile(lines + block[1], page, "exec"), names)


def test_pages_are_all_tested():
    found = {page.stem[5:] for page in (ROOT / "docs" / "python").glob("from-*.md")}
    assert found == set(PAGES)


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
