"""The code on the pages about frameworks and about other records runs."""

import re
import shutil

import pytest
import recmap
from conftest import DIGITS, ROOT

PAGES = {
    "arrow": ["pyarrow", "polars", "pandas"],
    "grain": ["grain"],
    "huggingface": ["datasets"],
    "metrics": ["prometheus_client"],
    "ray": ["ray", "ray.data"],
    "records": [],
    "tensorflow": ["tensorflow"],
}


@pytest.mark.parametrize("name", PAGES)
def test_programs_of_the_page_run(name, tmp_path, monkeypatch, capsys):
    for package in PAGES[name]:
        pytest.importorskip(package, exc_type=ImportError)
    page = ROOT / "docs" / "frameworks" / f"{name}.md"
    if not page.exists():
        pytest.skip("the pages are not here")
    for shard in DIGITS.glob("*.tfrecord"):
        shutil.copy(shard, tmp_path)
    monkeypatch.chdir(tmp_path)
    text = page.read_text()
    programs = [(m[2], m[1]) for m in re.finditer(r"```c\n(/\* (\w+\.c).*?)```", text, re.S)]
    if programs and shutil.which("cc") is None:
        pytest.skip("no C compiler")
    blocks = [(m.start(1), m[1]) for m in re.finditer(r"```python\n(.*?)```", text, re.S)]
    assert len(blocks) >= 2
    for name, source in programs:
        (tmp_path / name).write_text(source)
    names = {"__name__": "__main__"}
    for start, block in blocks:
        lines = "\n" * text[:start].count("\n")  # errors name lines of the page
        exec(compile(lines + block, page, "exec"), names)


def test_the_page_on_selecting(digits, tmp_path):
    text = (ROOT / "docs" / "reference" / "select.md").read_text()
    for block in re.findall(r"```python\n(.*?)```", text, re.S):
        exec(block, {"ds": digits, "folder": tmp_path, "recmap": recmap})
