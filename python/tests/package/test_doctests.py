"""The examples in docstrings run."""

import doctest
import importlib
import pkgutil

import pytest
import recmap
from conftest import DIGITS, ROOT

FOLDER = recmap.__path__[0]
PACKAGES = {"": FOLDER} | {
    f"{m.name}.": f"{FOLDER}/{m.name}" for m in pkgutil.iter_modules([FOLDER]) if m.ispkg
}
ALL = [
    prefix + module.name
    for prefix, folder in PACKAGES.items()
    for module in pkgutil.iter_modules([folder])
    if module.name != "_recmap"
]
MODULES = [name for name in ALL if name.startswith("_")]


@pytest.mark.parametrize("name", ALL)
def test_examples_of_docstrings_run(name, digits_index, tmp_path, monkeypatch):
    """In examples, `digits()` opens data/digits, and `folder` is an empty folder."""
    monkeypatch.chdir(ROOT)
    names = {"recmap": recmap, "folder": tmp_path}
    names["digits"] = lambda: recmap.open(DIGITS, index=digits_index)
    module = pytest.importorskip(f"recmap.{name}", exc_type=ImportError)
    failed, _ = doctest.testmod(module, extraglobs=names)
    assert not failed


def test_there_are_examples():
    finder = doctest.DocTestFinder()
    modules = [importlib.import_module(f"recmap.{name}") for name in MODULES]
    tests = [test for module in modules for test in finder.find(module) if test.examples]
    assert len(tests) >= 10
