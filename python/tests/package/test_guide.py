"""The Python code of docs/guide runs as written, with the digits and with made records."""

import re
import shutil

import pytest
from conftest import DIGITS, ROOT, needs_images

GUIDE = ROOT / "docs" / "guide"
PAGES = sorted(page.name for page in GUIDE.glob("*.md") if page.name != "README.md")
MARKED = [
    pytest.param(page, marks=[needs_images] * (page in ("images.md", "episodes.md")))
    for page in PAGES
]


def run(page, names):
    """Runs the page's Python blocks in one namespace. Errors show the page's own lines."""
    text = page.read_text()
    blocks = list(re.finditer(r"```python\n(.*?)```", text, re.S))
    assert blocks, page
    for block in blocks:
        lines = "\n" * text[: block.start(1)].count("\n")
        exec(compile(lines + block[1], page, "exec"), names)


@pytest.mark.parametrize("records", ["digits", "made"])
@pytest.mark.parametrize("name", MARKED)
def test_programs_of_the_guide_run(name, records, tmp_path, monkeypatch):
    if name == "messages.md":
        pytest.importorskip("google.protobuf")
    if records == "digits":
        shutil.copytree(DIGITS, tmp_path / "data" / "digits")
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    run(GUIDE / "README.md", names)
    run(GUIDE / name, names)


def test_each_page_answers_in_python_first():
    for name in PAGES:
        text = (GUIDE / name).read_text()
        blocks = re.findall(r"```(python|console)\n", text)
        assert blocks[0] == "python", name
