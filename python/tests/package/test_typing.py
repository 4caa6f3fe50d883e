"""Types that a checker sees, and the names that completion offers."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest
import recmap

PROGRAM = """
from typing import Any, assert_type

import recmap

ds = recmap.open("x")
features = {"a": recmap.FixedLen((), "int64")}


def count(batch: recmap.ColumnBatch) -> int:
    return batch.row_count


assert_type(recmap.Loader(ds, 5).peek(), recmap.RecordBatch | None)
Pair = tuple[recmap.ColumnBatch, recmap.ColumnBatch]
assert_type(recmap.Loader(ds, 5, feature_lists=features).peek(), Pair | None)
for number in recmap.Loader(ds, 5, features=features, transform=count):
    assert_type(number, int)
with recmap.Loader(ds, 5, features=features, shuffle=True, rank="auto") as loader:
    for columns in loader:
        assert_type(columns, recmap.ColumnBatch)
for tensors in recmap.torch.Loader(ds, 5, features=features, pin_memory=True):
    assert_type(tensors, dict[str, Any])
for records in recmap.torch.Loader(ds, 5, **recmap.torch.ranks()):
    assert_type(records, list[bytes])
plain = recmap.Loader(ds, 5)
for records in recmap.torch.IterableDataset(plain):
    assert_type(records, list[bytes])
for tensors in recmap.torch.IterableDataset(recmap.Loader(ds, 5, features=features)):
    assert_type(tensors, dict[str, Any])
pairs = recmap.Loader(ds, 5, features=features, feature_lists=features)
for pair in recmap.torch.IterableDataset(pairs):
    assert_type(pair, tuple[dict[str, Any], dict[str, Any]])
counts = recmap.Loader(ds, 5, features=features, transform=count)
for number in recmap.torch.IterableDataset(counts):
    assert_type(number, int)
assert_type(recmap.torch.tensors(ds.parse([0], features)), dict[str, Any])
recmap.Loader(ds, 5, shufle=True)  # type: ignore[call-overload]
recmap.Loader(ds, 5, last="left")  # type: ignore[call-overload]
recmap.Lodaer(ds, 5)  # type: ignore[attr-defined]
recmap.torch.Lodaer(ds, 5)  # type: ignore[attr-defined]
assert_type(recmap.__version__, str)
"""


def test_batches_are_typed(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "program.py").write_text(PROGRAM)
    package = Path(recmap.__file__).parent
    (tmp_path / "recmap").symlink_to(package)
    (tmp_path / "mypy.ini").write_text(
        "[mypy]\nstrict = true\nfollow_imports = silent\n"
        "[mypy-torch.*]\nfollow_imports = skip\nignore_missing_imports = true\n"
    )
    command = [sys.executable, "-m", "mypy", "--cache-dir", tmp_path / "cache", "program.py"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


def test_completion_offers_public_names_only():
    frameworks = {"arrow", "grain", "huggingface", "ray", "spark", "tensorflow", "torch"}
    assert set(dir(recmap)) == {
        *recmap.__all__,
        *frameworks,
        "metrics",
        "storage",
        "tfds",
        "webdataset",
    }
    for name in recmap.__all__:
        assert getattr(recmap, name) is not None
    assert recmap.webdataset.sample


def adapters():
    return sorted(set(dir(recmap)) - set(recmap.__all__))


@pytest.mark.parametrize("name", adapters())
def test_completion_of_modules_offers_public_names_only(name):
    try:
        module = getattr(recmap, name)
    except ImportError as error:
        pytest.skip(str(error))
    assert dir(module) == sorted(module.__all__)
    assert all(hasattr(module, public) for public in module.__all__)


def test_the_site_has_all_public_modules():
    script = Path(__file__).parents[3] / "packaging" / "build-docs"
    names = runpy.run_path(str(script))["public_modules"]()
    assert names == ["recmap", *(f"recmap.{name}" for name in adapters())]
