"""The notebook of docs/start is one, and its cells run as written."""

import json
import re
import shutil

import pytest
from conftest import DIGITS, ROOT

FOLDER = ROOT / "docs" / "start"
NOTEBOOKS = sorted(path.name for path in FOLDER.glob("*.ipynb"))


def cells(notebook, kind):
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == kind]


@pytest.fixture(params=NOTEBOOKS)
def notebook(request):
    return json.loads((FOLDER / request.param).read_text())


def test_notebook_is_of_format_4(notebook):
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(set(ids)) == len(ids)
    for cell in notebook["cells"]:
        needed = {"cell_type", "id", "metadata", "source"}
        if cell["cell_type"] == "code":
            needed |= {"execution_count", "outputs"}
        assert set(cell) == needed, cell["id"]
    assert cells(notebook, "markdown")[0].startswith("# ")


def test_notebook_is_stored_without_results(notebook):
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            assert (cell["outputs"], cell["execution_count"]) == ([], None), cell["id"]


def test_cells_run_from_top_to_bottom(notebook, tmp_path, monkeypatch):
    shutil.copytree(DIGITS, tmp_path / "data" / "digits")
    folder = tmp_path / "docs" / "start"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    names = {"__name__": "__main__"}
    for number, source in enumerate(cells(notebook, "code"), 1):
        exec(compile(source, f"code cell {number}", "exec"), names)
    assert len(names["whole"]) == 1797
    with names["ds"]:
        assert len(names["threes"]) == 183


def test_links_lead_to_pages(notebook):
    links = re.findall(r"\]\(([^)#]+)", "\n".join(cells(notebook, "markdown")))
    assert links
    for link in links:
        assert (FOLDER / link).is_file(), link


def test_there_is_a_notebook():
    assert NOTEBOOKS
