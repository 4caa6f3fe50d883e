"""Features that no record has: warnings, errors, and what they say."""

import pickle
import warnings

import numpy as np
import pytest
import recmap
from conftest import write


@pytest.fixture
def records(tmp_path):
    """Records with "label" and an empty "tags"; only the last one of 20 has "rare"."""
    empty = np.array([], "int64")
    examples = [{"label": i, "image/encoded": b"x", "tags": empty} for i in range(20)]
    examples[-1]["rare"] = 1
    write(tmp_path, examples)
    with recmap.open(tmp_path / "made-0.tfrecord", progress=None) as ds:
        yield ds


@pytest.fixture
def sequences(tmp_path):
    write(tmp_path, [recmap.encode_sequence_example({"id": 1}, {"frames": [[1], [2]]})] * 3)
    with recmap.open(tmp_path / "made-0.tfrecord", progress=None) as ds:
        yield ds


KINDS = {
    "VarLen": recmap.VarLen(),
    "padded": recmap.FixedLenSequence(),
    "ragged": recmap.FixedLenSequence(ragged=True),
    "Ragged": recmap.Ragged("int64", [recmap.RowSplits("splits")], key="lable"),
    "Sparse": recmap.Sparse("index", "lable", "int64", 4),
    "default": recmap.FixedLen((), default=3),
    "bytes": recmap.VarLen(bytes),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_misspelt_name_warns_once_with_the_near_name(records, kind):
    features = {"lable": KINDS[kind]}
    with pytest.warns(UserWarning, match="no record .* 'lable'. Did you mean 'label'") as caught:
        records.parse(range(5), features)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        records[:10].parse(range(5), features)  # once per data set, whichever view
        records.parse(range(5), features, missing="ignore")


@pytest.mark.parametrize("kind", KINDS)
def test_missing_error_raises_and_names_the_index(records, kind):
    with pytest.raises(recmap.FeatureError, match="the feature 'lable'") as caught:
        records.parse(range(5), {"lable": KINDS[kind]}, missing="error")
    assert caught.value.path == records.index_path
    assert "'label'" in caught.value.advice


@pytest.mark.parametrize("threads", [1, 2])
def test_features_that_are_present_pass(records, threads):
    features = {
        "label": recmap.FixedLen(),
        "tags": recmap.VarLen(),  # present, but without values
        "more": recmap.FixedLen((), default=5, key="label"),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for missing in ("warn", "error"):
            records.parse(range(20), features, missing=missing, threads=threads)
            list(recmap.Loader(records, 5, features=features, missing=missing))
        records.parse([], {"lable": recmap.VarLen()}, missing="error")


def test_a_rare_feature_is_not_a_mistake_but_an_error_on_request(records):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        records.parse([0, 1], {"rare": recmap.VarLen()})
        default = {"rare": recmap.FixedLen((), default=0)}
        assert records.parse([0], default, missing="error")["rare"].tolist() == [0]
    with pytest.raises(recmap.FeatureError, match="Other records of the data set have it"):
        records.parse([0, 1], {"rare": recmap.VarLen()}, missing="error")
    assert records.parse([0, 19], {"rare": recmap.VarLen()}, missing="error")["rare"]


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("LABEL", "Did you mean 'label'"),
        ("image", "Did you mean 'image/encoded'"),
        ("zzz", "The records have 'image/encoded', 'label', 'rare', 'tags'"),
    ],
)
def test_advice(records, name, advice):
    with pytest.warns(UserWarning, match=advice):
        records.parse([0], {name: recmap.VarLen()})


def test_records_that_failed_say_nothing(tmp_path):
    write(tmp_path, [b"no example", b"nor this"])
    ds = recmap.open(tmp_path / "made-0.tfrecord", progress=None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ds.parse([0, 1], {"x": recmap.VarLen()}, on_error="collect", missing="error")


def test_feature_lists(sequences):
    steps = {"frame": recmap.VarLen()}
    with pytest.warns(UserWarning, match="feature list 'frame'. Did you mean 'frames'"):
        sequences.parse_sequence([0], {}, steps)
    with pytest.raises(recmap.FeatureError, match="It is a feature of the context"):
        sequences.parse_sequence([0], {}, {"id": recmap.VarLen()}, missing="error")
    with pytest.raises(recmap.FeatureError, match="feature_lists of parse_sequence"):
        sequences.parse_sequence([0], {"frames": recmap.VarLen()}, {}, missing="error")
    with pytest.raises(recmap.FeatureError, match="'frame'"):
        next(iter(recmap.Loader(sequences, 2, feature_lists=steps, missing="error")))


TRANSFORMS = {"columns": None, "transform": lambda batch: batch}


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_a_loader_warns_once(records, transform):
    arguments = {"features": {"lable": recmap.VarLen()}, "transform": TRANSFORMS[transform]}
    for _ in range(2):  # each loader
        with recmap.Loader(records, 5, **arguments) as loader:
            with pytest.warns(UserWarning, match="'lable'. Did you mean 'label'"):
                assert len(list(loader)) == 4
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                assert len(list(loader)) == 4


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_a_loader_that_refuses_delivers_nothing(records, transform):
    arguments = {"features": {"lable": recmap.VarLen()}, "transform": TRANSFORMS[transform]}
    with recmap.Loader(records, 5, missing="error", **arguments) as loader:
        for _ in range(2):
            with pytest.raises(recmap.FeatureError, match="'lable'"):
                next(iter(loader))
        assert loader.position == 0


def test_a_loader_checks_its_first_batch_only(records):
    features = {"rare": recmap.VarLen()}
    with recmap.Loader(records[10:][::-1], 5, features=features, missing="error") as loader:
        assert [batch["rare"].lengths.sum() for batch in loader] == [1, 0]


def test_invalid_choices(records):
    for call in (
        lambda: records.parse([0], {}, missing="no"),
        lambda: records.parse_sequence([0], {}, {}, missing="no"),
        lambda: recmap.Loader(records, 5, missing="no"),
    ):
        with pytest.raises(ValueError, match='"warn", "error" or "ignore"'):
            call()


# ---- Adapters.


def test_torch(records):
    pytest.importorskip("torch")
    import recmap.torch

    from torch.utils.data import DataLoader

    features = {"lable": recmap.VarLen()}
    with pytest.warns(UserWarning, match="'lable'"):
        recmap.torch.MapDataset(records, features)[0]
    samples = recmap.torch.MapDataset(records, features, missing="error")
    with pytest.raises(recmap.FeatureError, match="'lable'"):
        pickle.loads(pickle.dumps(samples))[0]
    rare = recmap.torch.MapDataset(records, {"rare": recmap.VarLen()}, missing="error")
    assert not len(rare[0]["rare"])  # one sample says little about a feature
    batches = recmap.torch.IterableDataset(
        recmap.Loader(records, 5, features=features, missing="error")
    )
    with pytest.raises(recmap.FeatureError, match="'lable'"):
        next(iter(DataLoader(batches, batch_size=None, num_workers=1)))


def test_grain(records):
    pytest.importorskip("grain")
    import recmap.grain

    features = {"lable": recmap.VarLen()}
    order = recmap.Sequential(20)
    with pytest.warns(UserWarning, match="'lable'"):
        recmap.grain.DataSource(records, features)[0]
    source = recmap.grain.DataSource(records, features, missing="error")
    batches = recmap.grain.Batches(records, order, 5, features, missing="error")
    for made in (source, batches):
        with pytest.raises(recmap.FeatureError, match="'lable'"):
            pickle.loads(pickle.dumps(made))[0]


def test_huggingface(records):
    pytest.importorskip("datasets")
    import recmap.huggingface

    rows = recmap.huggingface.dataset(records, {"lable": recmap.VarLen()}, missing="error")
    with pytest.raises(recmap.FeatureError, match="'lable'"):
        next(iter(rows))


def test_ray_reads(records):
    pytest.importorskip("ray")
    import recmap.ray

    source = recmap.ray.Datasource(records, {"lable": recmap.VarLen()}, missing="error")
    with pytest.raises(recmap.FeatureError, match="'lable'"):
        list(source.get_read_tasks(1)[0]())


def test_tensorflow(records):
    pytest.importorskip("tensorflow")
    import recmap.tensorflow

    loader = recmap.Loader(records, 5, features={"lable": recmap.VarLen()}, missing="error")
    with pytest.raises(Exception, match="'lable'"):
        next(iter(recmap.tensorflow.dataset(loader)))


@pytest.mark.parametrize("transform", [None, len])
def test_a_loader_without_default_names_similar_features(records, transform):
    features = {"labl": recmap.FixedLen((), "int64")}
    loader = recmap.Loader(records, 5, features=features, transform=transform)
    for take in (lambda: next(iter(loader)), loader.peek):
        with pytest.raises(recmap.FeatureError, match="'labl' is missing") as caught:
            take()
        expected = "Did you mean 'label'? If the name is right, give a default."
        assert caught.value.advice == expected


def test_a_missing_feature_without_default_names_similar_ones(records):
    with pytest.raises(recmap.FeatureError, match="'labl' is missing") as caught:
        records.parse([0], {"labl": recmap.FixedLen((), "int64")})
    assert caught.value.advice == "Did you mean 'label'? If the name is right, give a default."
    with pytest.raises(recmap.FeatureError, match="'rare' is missing") as caught:
        records.parse([0], {"rare": recmap.FixedLen((), "int64")})
    assert caught.value.advice == "check the name with `recmap schema`, or give a default"
    with pytest.raises(recmap.FeatureError) as caught:
        records.parse([0], {"label": recmap.FixedLen((3,), "int64")})
    assert "default" not in caught.value.advice
