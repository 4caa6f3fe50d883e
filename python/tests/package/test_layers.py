"""The packages inside recmap import each other in one direction only."""

import ast
from pathlib import Path

import pytest
import recmap

# Each imports only modules and packages that precede it, also in functions and for types.
LAYERS = [
    "_errors",
    "_numbers",
    "_warn",
    "_display",
    "_example",
    "_order",
    "_columns",
    "_options",
    "_dataset",
    "_index",
    "_loader",
]
ROOT = Path(recmap.__file__).parent


def imported(path):
    """The modules and packages of recmap that a module imports."""
    folder = path.relative_to(ROOT).parts[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = folder[: len(folder) - node.level + 1]
            names = [node.module] if node.module else [alias.name for alias in node.names]
            for name in names:
                yield (*base, *name.split("."))[0]


@pytest.mark.parametrize("layer", LAYERS)
def test_a_layer_imports_only_lower_ones(layer):
    paths = [*ROOT.glob(f"{layer}.py"), *ROOT.glob(f"{layer}/*.py")]
    assert paths
    allowed = {*LAYERS[: LAYERS.index(layer) + 1], "_recmap"}
    wrong = {path.name: set(imported(path)) - allowed for path in paths}
    assert {name: names for name, names in wrong.items() if names} == {}


def test_every_private_package_is_a_layer():
    packages = {path.parent.name for path in ROOT.glob("_*/__init__.py")}
    assert packages <= set(LAYERS)
