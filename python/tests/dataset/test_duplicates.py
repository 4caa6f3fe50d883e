"""Records that equal earlier ones."""

import numpy as np
import pytest
import recmap

RECORDS = [
    {"id": "a", "text": "one"},
    {"id": "b", "text": "two"},
    {"id": "a", "text": "one"},
    {"id": "b", "text": "one"},
    {"id": "a", "text": "one"},
    {"id": "c"},
    {"id": "d"},
]


@pytest.fixture
def repeated(tmp_path):
    with recmap.Writer(tmp_path / "made.tfrecord") as writer:
        for record in RECORDS:
            writer.write(record)
    with recmap.open(tmp_path / "made.tfrecord", id="id") as ds:
        yield ds


def test_equal_records_are_listed_with_the_first(repeated):
    found = repeated.duplicates()
    assert found.tolist() == [[2, 0], [4, 0]] and found.dtype == np.int64
    assert repeated.duplicates("id").tolist() == [[2, 0], [3, 1], [4, 0]]
    assert repeated.duplicates(by="text").tolist() == [[2, 0], [3, 0], [4, 0]]


def test_duplicates_of_a_view_are_positions_in_it(repeated):
    view = repeated[[6, 4, 5, 2, 0, 6]]
    assert view.duplicates().tolist() == [[3, 1], [4, 1], [5, 0]]
    assert repeated[:2].duplicates().shape == (0, 2)
    assert repeated[:0].duplicates().shape == (0, 2)


def test_a_data_set_without_its_duplicates(repeated):
    kept = np.ones(len(repeated), bool)
    kept[repeated.duplicates()[:, 0]] = False
    unique = repeated.select(kept)
    assert unique.numbers.tolist() == [0, 1, 3, 5, 6] and not len(unique.duplicates())


def test_duplicates_of_a_concatenation(repeated):
    both = recmap.concat([repeated[:2], repeated[1:3]])
    assert both.duplicates().tolist() == [[2, 1], [3, 0]]
    assert both.duplicates(by="id").tolist() == [[2, 1], [3, 0]]


def test_wrong_arguments_are_refused(repeated, tmp_path):
    with pytest.raises(recmap.FeatureError):
        repeated.duplicates("absent")
    with pytest.raises(TypeError, match="by must be a str, not int"):
        repeated.duplicates(3)
    with recmap.Writer(tmp_path / "plain.tfrecord") as writer:
        writer.write(b"x")
    with (
        recmap.open(tmp_path / "plain.tfrecord") as plain,
        pytest.raises(ValueError, match="the index has no ids"),
    ):
        plain.duplicates("id")
    repeated.close()
    with pytest.raises(ValueError, match="closed"):
        repeated.duplicates()


def test_progress_can_stop_the_comparison(repeated):
    def stop(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        repeated.duplicates(progress=stop)


def test_a_search_by_id_can_be_stopped_at_each_step(tmp_path):
    """Hashes of ids are read, collected, sorted and compared with their neighbours. With 60,000
    records, each of these steps but the first asks at least three times, and sorting 16 times."""
    asked = []

    def stop(*counts):
        asked.append(counts)
        if len(asked) == last:
            raise KeyboardInterrupt

    with recmap.Writer(tmp_path / "many.tfrecord") as writer:
        for i in range(60_000):
            writer.write({"id": i})
    with recmap.open(tmp_path / "many.tfrecord", id="id") as ds:
        last = None
        assert not len(ds.duplicates("id", progress=stop))
        steps = len(asked)
        assert steps >= 1 + 3 + 16 + 3
        for last in range(1, steps + 1, 4):
            asked.clear()
            with pytest.raises(KeyboardInterrupt):
                ds.duplicates("id", progress=stop)
            assert len(asked) == last
