"""Loaders that read the shards in their order ahead of their batches."""

import time

import pytest
import recmap
from conftest import needs_cache_space
from loader_helpers import numbers_of


def ended(loader):
    """What became of warming."""
    while loader.statistics["warmed"] == "running":
        time.sleep(0.01)
    return loader.statistics["warmed"]


def test_batches_and_states_are_those_without(made):
    plain = recmap.Loader(made, 37, shuffle=True, seed=5)
    warm = recmap.Loader(made, 37, shuffle=True, seed=5, warm="on")
    assert warm.statistics["warmed"] == "off"
    for _ in range(2):
        assert numbers_of(warm) == numbers_of(plain)
        assert warm.state_dict() == plain.state_dict()
    assert ended(warm) in ("complete", "memory")
    assert plain.statistics["warmed"] == "off"
    warm.load_state_dict(plain.state_dict())
    assert numbers_of(warm) == numbers_of(plain)


def test_a_loader_that_does_not_wait_begins_nothing(made):
    loader = recmap.Loader(made, 37, shuffle=True, warm="auto")
    numbers_of(loader)
    assert loader.statistics["warmed"] == "off"
    assert loader.statistics["warmed_bytes"] == 0


def test_the_explanation_says_what_would_help():
    def advice(warmed, **causes):
        return recmap._loader.stages._advice(causes, warmed)

    assert advice("off", disk=6, parsing=5).endswith("or Windowed would help")
    assert advice("memory", disk=6, parsing=5).endswith("use Windowed")
    assert advice("off", disk=5, parsing=6) == advice("complete", disk=9) == ""
    assert advice("sequential", disk=9) == ""


def test_closing_ends_it(made):
    loader = recmap.Loader(made, 10, shuffle=True, warm="on")
    next(iter(loader))
    loader.close()
    assert ended(loader) in ("complete", "memory", "stopped")
    assert numbers_of(loader)


@needs_cache_space
def test_compressed_shards_are_inflated_into_the_cache(packed, tmp_path):
    storage = recmap.Storage(cache=tmp_path / "kept")
    with recmap.open(tmp_path / "packed.tfrecord.gz", storage=storage) as ds:
        loader = recmap.Loader(ds, 50, shuffle=True, warm="on")
        numbers_of(loader)
        assert ended(loader) == "complete"
        found = loader.statistics
        assert found["warmed_bytes"] + found["warm_bytes"] > 0
        misses = found["cache_misses"]
        numbers_of(loader)
        assert loader.statistics["cache_misses"] == misses


def test_remote_shards_without_a_cache_fail_only_warming(remote):
    loader = recmap.Loader(remote, 600, shuffle=True, warm="on")
    assert sum(map(len, numbers_of(loader))) == len(remote)
    assert ended(loader) == "failed"


def test_other_loaders_take_it(digits, made):
    joined = recmap.join({"all": digits, "threes": digits.where("label == 3")})
    assert sum(1 for _ in recmap.JoinedLoader(joined, 20, warm="on"))
    torch = pytest.importorskip("recmap.torch")
    assert sum(len(batch) for batch in torch.Loader(made, 20, warm="on")) == len(made)


def test_wrong_words_are_refused(made):
    with pytest.raises(ValueError, match="warm must be one of 'off', 'on', 'auto'"):
        recmap.Loader(made, 10, warm=True)
