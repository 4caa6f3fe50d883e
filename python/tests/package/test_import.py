"""What `import recmap` and the first uses import: modules, not times."""

import importlib.util
import subprocess
import sys

import pytest
import recmap
from conftest import DIGITS

PROGRAM = """
import sys
import recmap
print(*sorted(sys.modules))
ds = recmap.open(sys.argv[1], index=sys.argv[2])
for batch in recmap.Loader(ds, 500, shuffle=True):
    batch[0]
print(*sorted(sys.modules))
"""
# Modules that take a millisecond or more. Frameworks and NumPy take a hundred times that.
HEAVY = {"concurrent.futures", "decimal", "difflib", "fractions", "json", "logging", "numpy"}
FRAMEWORKS = {"datasets", "grain", "jax", "pandas", "pyarrow", "ray", "tensorflow", "torch"}


def test_importing_loads_few_modules(tmp_path):
    command = [sys.executable, "-c", PROGRAM, DIGITS, tmp_path / "digits.rmx"]
    said = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True)
    first, used = (set(line.split()) for line in said.stdout.splitlines())
    assert not first & ({*HEAVY, "threading"} | FRAMEWORKS)
    assert not used & ({*HEAVY} - {"json", "numpy"} | FRAMEWORKS)
    assert "recmap._loader.loader" in used - first


def test_workers_of_pytorch_need_not_import_numpy_random():
    if not importlib.util.find_spec("torch"):
        pytest.skip("no torch here")
    program = "import sys, recmap.torch; print('numpy.random' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert said.stdout == "True\n"


def test_public_names_are_those_of_what_they_name():
    assert {"Dataset", "Error", "Loader", "__version__", "open"} < set(recmap.__all__)
    for name in set(recmap.__all__) - {"__version__"}:
        assert getattr(recmap, name).__name__ == name


def test_unknown_names_are_errors():
    assert not hasattr(recmap, "numpy") and not hasattr(recmap, "Lodaer")
