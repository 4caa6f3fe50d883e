"""The names that completion offers. What a type checker sees is in typed_program.py."""

import runpy
from pathlib import Path

import pytest
import recmap


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
