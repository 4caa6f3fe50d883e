"""Which records are read to learn what a data set contains."""

import pytest
import recmap
from conftest import write
from recmap._dataset.sample import sample_of


def test_a_sample_is_that_of_the_command():
    """tests/cli/test_output.py has the same numbers."""
    numbers = [0, 157, 210, 289, 361, 480, 519, 601, 743, 765, 854, 999]
    assert sample_of(1000, 12).tolist() == numbers


@pytest.mark.parametrize("count", [0, 1, 2, 7, 10, 300, 2**40])
@pytest.mark.parametrize("wanted", [0, 1, 2, 5, 9, 299])
def test_a_sample_has_one_item_of_each_part(count, wanted):
    items = sample_of(count, wanted).tolist()
    size = min(count, wanted)
    assert len(items) == size
    if size:
        assert items[0] == 0
    if size > 1:
        assert items[-1] == count - 1
    for part, item in enumerate(items):
        assert part * count // size <= item < (part + 1) * count // size


def test_features_of_a_regular_data_set(tmp_path):
    """Every fourth record has "a", and the next one "caption": a sample needs both kinds."""
    extra = {0: {"a": 1}, 1: {"caption": b"x"}}
    write(tmp_path, [{"label": i, **extra.get(i % 4, {})} for i in range(4000)])
    with recmap.open(tmp_path / "made-0.tfrecord") as ds:
        features = ds.features()
        assert isinstance(features["a"], recmap.VarLen)
        assert isinstance(features["caption"], recmap.VarLen)
        next(iter(recmap.Loader(ds, 100, features=features)))
