"""The packages inside recmap import each other in one direction only."""

import ast
import re
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
import recmap

# Each imports only modules and packages that precede it, also in functions and for types.
LAYERS = [
    "_base",
    "_display",
    "_example",
    "_order",
    "_columns",
    "_options",
    "_dataset",
    "_index",
    "_tfds",
    "_loader",
]
ROOT = Path(recmap.__file__).parent

# The folders of the extension; each includes headers only of itself and of those that precede it.
FOLDERS = ["base", "order", "index", "batch", "dataset", "loader"]
TESTS = Path(__file__).parents[1]
SOURCES = TESTS.parent / "src"


def imported(path):
    """The modules and packages of recmap that a module imports: also in functions and for types."""
    folder = path.relative_to(ROOT).parts[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = folder[: len(folder) - node.level + 1]
            module = (*base, *(node.module.split(".") if node.module else ()))
            for alias in node.names:
                is_module = (ROOT.joinpath(*module) / f"{alias.name}.py").is_file()
                yield (*module, alias.name) if is_module or not module else module


@pytest.mark.parametrize("layer", LAYERS)
def test_a_layer_imports_only_lower_ones(layer):
    paths = [*ROOT.glob(f"{layer}.py"), *ROOT.glob(f"{layer}/*.py")]
    assert paths
    allowed = {*LAYERS[: LAYERS.index(layer) + 1], "_recmap"}
    wrong = {path.name: {name[0] for name in imported(path)} - allowed for path in paths}
    assert {name: names for name, names in wrong.items() if names} == {}


def test_no_module_imports_itself_through_others():
    paths = [path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py"]
    graph = {}
    for path in paths:
        name = path.relative_to(ROOT).with_suffix("").parts
        graph[name[:-1] if name[-1] == "__init__" else name] = set(imported(path))
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the modules


def test_every_private_package_is_a_layer():
    packages = {path.parent.name for path in ROOT.glob("_*/__init__.py")}
    assert packages <= set(LAYERS)


def test_every_private_package_has_a_folder_of_tests():
    packages = {path.parent.name.lstrip("_") for path in ROOT.glob("_*/__init__.py")}
    packages -= {"base", "options"}  # tests of what uses them, in package, index and remote
    assert packages <= {path.parent.name for path in TESTS.glob("*/test_*.py")}


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_of_the_extension_includes_only_lower_ones(folder):
    allowed = FOLDERS[: FOLDERS.index(folder) + 1]
    wrong = {
        f"{path.name} includes {header}"
        for path in SOURCES.glob(f"{folder}/*.[ch]")
        for header in re.findall(r'^#include "(.+)"', path.read_text(), re.MULTILINE)
        if header.partition("/")[0] not in allowed
    }
    assert not wrong


def test_every_folder_of_the_extension_has_a_place_in_the_order():
    assert {path.parent.name for path in SOURCES.glob("*/*.c")} == set(FOLDERS)
