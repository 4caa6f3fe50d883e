"""TensorFlow: results equal tf.io.parse_example, numbers are not copied, states."""

import gc
import json
import os
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest
import recmap
from conftest import DIGITS, flip, write

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
tf = pytest.importorskip("tensorflow")


def example(i):
    count = i % 3
    return recmap.encode_example(
        {
            "number": i,
            "name": f"name {i}",
            "pair": np.array([i / 2, i / 4], np.float32),
            "words": [f"w{j}" for j in range(i % 4)],
            "tokens": np.arange(i % 5),
            "at": np.arange(count)[::-1] * 2,
            "values": np.arange(count, dtype=np.float32),
            "four": np.arange(4) + i,
            "four lengths": [i % 4, 4 - i % 4],
            "texts": [f"t{j}" for j in range(i % 3)],
            "scores": np.arange(count, dtype=np.float32) / 8,
            "lengths": [1, count] if i % 2 else [],
            "nested": np.arange(1 + count) if i % 2 else np.arange(0),
        }
    )


RECORDS = [example(i) for i in range(50)]
OURS = {
    "number": recmap.FixedLen((), "int64"),
    "pair": recmap.FixedLen((2,), "float32"),
    "words": recmap.VarLen(bytes),
    "tokens": recmap.VarLen("int64"),
    "padded": recmap.FixedLenSequence((), "int64", key="tokens", default=-1),
    "steps": recmap.FixedLenSequence((2,), "float32", key="pair", ragged=True),
    "sparse": recmap.Sparse("at", "values", "float32", 6),
    "nested": recmap.Ragged("int64", [recmap.RowLengths("lengths")], key="nested"),
    "pairs": recmap.Ragged("int64", [recmap.UniformRowLength(2)], key="four"),
}
THEIRS = {
    "number": tf.io.FixedLenFeature((), tf.int64),
    "name": tf.io.FixedLenFeature((), tf.string),
    "pair": tf.io.FixedLenFeature((2,), tf.float32),
    "missing": tf.io.FixedLenFeature((2,), tf.float32, [1.0, 2.0]),
    "words": tf.io.VarLenFeature(tf.string),
    "tokens": tf.io.VarLenFeature(tf.int64),
    "scores": tf.io.FixedLenSequenceFeature((), tf.float32, allow_missing=True, default_value=-1),
    "sparse": tf.io.SparseFeature("at", "values", tf.float32, 6),
    "ragged": tf.io.RaggedFeature(tf.string, value_key="texts"),
    "nested": tf.io.RaggedFeature(
        tf.int64,
        value_key="nested",
        partitions=[tf.io.RaggedFeature.RowLengths("lengths")],
        row_splits_dtype=tf.int64,
    ),
    "pairs": tf.io.RaggedFeature(
        tf.int64, value_key="four", partitions=[tf.io.RaggedFeature.UniformRowLength(2)]
    ),
    "uniform outside": tf.io.RaggedFeature(
        tf.int64,
        value_key="four",
        partitions=[
            tf.io.RaggedFeature.UniformRowLength(2),
            tf.io.RaggedFeature.RowLengths("four lengths"),
            tf.io.RaggedFeature.UniformRowLength(1),
            tf.io.RaggedFeature.UniformRowLength(1),
        ],
    ),
}


@pytest.fixture
def examples(tmp_path):
    write(tmp_path, RECORDS)
    with recmap.open(tmp_path) as ds:
        yield ds


def flat(value):
    return [part.numpy() for part in tf.nest.flatten(value, expand_composites=True)]


def same(left, right):
    if isinstance(left, tf.RaggedTensor):
        assert left.shape.as_list() == right.shape.as_list()
        assert left.ragged_rank == right.ragged_rank
    assert type(left) is type(right) and left.dtype == right.dtype
    for a, b in zip(flat(left), flat(right), strict=True):
        assert a.dtype == b.dtype and a.tolist() == b.tolist()


def test_tf_io_features_equal_parse_example(examples):
    loader = recmap.Loader(examples, 16, shuffle=True, seed=3, features=THEIRS, missing="ignore")
    order = recmap.Shuffled(50, seed=3)
    steps = 0
    for step, batch in enumerate(recmap.tensorflow.dataset(loader)):
        numbers = order.at(0, range(step * 16, min(step * 16 + 16, 50)))
        expected = tf.io.parse_example([RECORDS[n] for n in numbers], THEIRS)
        assert set(batch) == set(expected)
        for name, value in expected.items():
            same(batch[name], value)
        steps += 1
    assert steps == 4


def test_features_of_recmap(examples):
    loader = recmap.Loader(examples, 50, features=OURS)
    dataset = recmap.tensorflow.dataset(loader)
    (batch,) = dataset
    assert batch["tokens"].to_list() == [list(range(i % 5)) for i in range(50)]
    assert batch["words"].to_list() == [[b"w%d" % j for j in range(i % 4)] for i in range(50)]
    assert batch["padded"].numpy()[3].tolist() == [0, 1, 2, -1]
    assert batch["padded/length"].numpy().tolist() == [i % 5 for i in range(50)]
    assert batch.keys() - OURS.keys() == {"padded/length"}
    assert batch["steps"][5].numpy().tolist() == [[2.5, 1.25]]
    assert batch["nested"].to_list()[5] == [[0], [1, 2]] and batch["nested"].ragged_rank == 2
    assert batch["pairs"][5].numpy().tolist() == [[5, 6], [7, 8]]
    assert tf.sparse.to_dense(batch["sparse"])[2].numpy().tolist() == [1, 0, 0, 0, 0, 0]
    assert batch["tokens"].dtype == tf.int64 and batch["steps"].dtype == tf.float32


def test_lengths_need_a_name_of_their_own(examples):
    features = {
        "a": recmap.FixedLenSequence((), "int64", key="tokens"),
        "a/length": recmap.FixedLen((), "int64", key="number"),
    }
    loader = recmap.Loader(examples, 50, features=features)
    with pytest.raises(ValueError, match="'a/length', but that is the name of a feature too"):
        recmap.tensorflow.dataset(loader)


def test_lengths_of_joined_loaders(tmp_path):
    write(tmp_path, RECORDS)
    examples = recmap.open(tmp_path, id="name", index=tmp_path / "ids.rmx")
    joined = recmap.join({"all": examples, "few": examples[:10]})
    features = {"all": {"padded": OURS["padded"]}, "few": {"number": OURS["number"]}}
    (batch,) = recmap.tensorflow.dataset(recmap.JoinedLoader(joined, 10, features=features))
    assert batch["all"]["padded/length"].numpy().tolist() == [i % 5 for i in range(10)]


@pytest.mark.parametrize("last", ["keep", "drop", "pad"])
@pytest.mark.parametrize("features", [OURS, THEIRS, None])
def test_elements_match_their_spec(examples, last, features):
    loader = recmap.Loader(examples, 16, features=features, last=last, missing="ignore")
    dataset = recmap.tensorflow.dataset(loader, state=True)
    count = 0
    for element in dataset:
        for part, spec in zip(
            tf.nest.flatten(element), tf.nest.flatten(dataset.element_spec), strict=True
        ):
            assert spec.is_compatible_with(part), spec
        count += 1
    assert count == {"keep": 4, "drop": 3, "pad": 4}[last]
    if features is OURS:
        rows = None if last == "keep" else 16
        spec = dataset.element_spec[0]
        assert spec["pair"].shape.as_list() == [rows, 2]
        assert spec["padded"].shape.as_list() == [rows, None]
        assert spec["sparse"].shape.as_list() == [rows, 6]
        assert spec["nested"].shape.as_list() == [rows, None, None]
        assert spec["pairs"].shape.as_list() == [rows, None, 2]
        assert spec["steps"].shape.as_list() == [rows, None, 2]


@pytest.mark.parametrize("dtype", ["int32", "uint8", "bool", "float16", "bfloat16", "float64"])
def test_elements_of_other_types(tmp_path, dtype):
    write(tmp_path, [recmap.encode_example({"x": i % 2, "y": i / 2}) for i in range(5)])
    ds = recmap.open(tmp_path)
    key = "y" if "float" in dtype else "x"
    loader = recmap.Loader(ds, 5, features={"c": recmap.FixedLen((), dtype, key=key)})
    (batch,) = recmap.tensorflow.dataset(loader)
    assert batch["c"].dtype == tf.as_dtype(dtype)
    expected = [i / 2 if key == "y" else i % 2 for i in range(5)]
    assert batch["c"].numpy().astype(np.float64).tolist() == expected


def pointer(array):
    return array.__array_interface__["data"][0]


def test_numbers_are_not_copied(digits, monkeypatch):
    features = {
        "label": recmap.FixedLen((), "int64"),
        "image": recmap.FixedLen((64,), "uint8", raw=True),
        "ragged": recmap.VarLen("int64", key="label"),
    }
    loader = recmap.Loader(digits, 256, shuffle=True, features=features)
    delivered = []
    iterate = recmap.Loader._iterate

    def spy(self, finish):
        def finish_and_note(batch, step):
            columns = batch["label"], batch["image"], batch["ragged"].values
            delivered.append([pointer(column) for column in columns])
            return finish(batch, step)

        return iterate(self, finish_and_note)

    monkeypatch.setattr(recmap.Loader, "_iterate", spy)
    for batch in recmap.tensorflow.dataset(loader):
        tensors = batch["label"], batch["image"], batch["ragged"].values
        assert [pointer(tensor._numpy()) for tensor in tensors] in delivered
    assert len(delivered) == 8


def test_tensors_outlive_everything(digits_index):
    ds = recmap.open(DIGITS, index=digits_index)
    labels = ds.columns["label"].tolist()
    loader = recmap.Loader(ds, 100, features={"label": recmap.FixedLen((), "int64")})
    kept = list(recmap.tensorflow.dataset(loader))
    loader.close()
    ds.close()
    del loader, ds
    assert [n for batch in kept for n in batch["label"].numpy()] == labels


def labels_of(elements):
    return [element["label"].numpy().tolist() for element in elements]


FEATURES = {"label": recmap.FixedLen((), "int64")}


def test_iterates_over_one_epoch_after_another(digits):
    order = recmap.Shuffled(len(digits), seed=7)
    loader = recmap.Loader(digits, 100, shuffle=True, seed=7, features=FEATURES)
    dataset = recmap.tensorflow.dataset(loader)
    for epoch in range(3):
        expected = digits.columns["label"][order.at(epoch, range(len(digits)))].tolist()
        assert sum(labels_of(dataset), []) == expected


@pytest.mark.parametrize("step", [0, 5, 17])
def test_resumes_exactly_with_prefetching(digits, step):
    def made():
        return recmap.Loader(digits, 100, shuffle=True, seed=7, features=FEATURES)

    rest = labels_of(recmap.tensorflow.dataset(made()))[step + 1 :]
    ahead = recmap.tensorflow.dataset(made(), state=True).prefetch(4)
    state = next(state for at, (_, state) in enumerate(ahead) if at == step)
    loader = made()
    loader.load_state_dict(json.loads(state.numpy()))
    assert (loader.epoch, loader.position) == divmod(min((step + 1) * 100, 1797), 1797)
    if step < 17:
        assert labels_of(recmap.tensorflow.dataset(loader)) == rest


def test_resumes_on_other_ranks(digits):
    whole = recmap.Loader(digits, 90, shuffle=True, seed=7, features=FEATURES)
    stepped = recmap.tensorflow.dataset(whole, state=True)
    *_, (_, state) = stepped.take(4)
    got = []
    for rank in range(3):
        loader = recmap.Loader(
            digits, 30, shuffle=True, seed=7, features=FEATURES, rank=rank, world_size=3
        )
        loader.load_state_dict(json.loads(state.numpy()))
        got += labels_of(recmap.tensorflow.dataset(loader))
    order = recmap.Shuffled(len(digits), seed=7)
    left = digits.columns["label"][order.at(0, range(360, len(digits)))]
    assert sorted(sum(got, [])) == sorted(left.tolist())


@pytest.mark.parametrize("joined", [False, True])
def test_a_state_beside_a_running_for(digits, joined):
    """It takes effect before the first batch; after that, TensorFlow has read ahead."""
    if joined:
        loader = recmap.JoinedLoader(recmap.join({"a": digits, "b": digits}), 100)
    else:
        loader = recmap.Loader(digits, 100)
    loader.seek(0, 1000)
    state = loader.state_dict()
    loader.seek()
    dataset = recmap.tensorflow.dataset(loader)
    steps = iter(dataset)
    loader.load_state_dict(state)
    next(steps)
    assert loader.position >= 1100
    for move in (lambda: loader.load_state_dict(state)), loader.seek:
        with pytest.raises(recmap.InvalidError, match="TensorFlow has read ahead") as raised:
            move()
        assert "before the `for`" in raised.value.advice
    del steps
    loader.load_state_dict(state)
    assert len(list(dataset)) == 8
    loader.seek()


def order_of_epoch(digits, epoch):
    order = recmap.Shuffled(len(digits), seed=7)
    return digits.columns["label"][order.at(epoch, range(len(digits)))].tolist()


def first_labels(dataset, count):
    return [n for batch in dataset.take(count) for n in batch["label"].numpy().tolist()]


@pytest.mark.parametrize("prefetch", [0, 4])
def test_a_for_that_is_left_early_ends_its_epoch(digits, prefetch):
    """Otherwise the next one would start after what TensorFlow has read, which varies."""
    loader = recmap.Loader(digits, 20, shuffle=True, seed=7, features=FEATURES)
    dataset = recmap.tensorflow.dataset(loader)
    dataset = dataset.prefetch(prefetch) if prefetch else dataset
    assert first_labels(dataset, 3) == order_of_epoch(digits, 0)[:60]
    with pytest.warns(UserWarning, match="was left early") as caught:
        for epoch in (1, 2):  # warns once
            assert first_labels(dataset, 3) == order_of_epoch(digits, epoch)[:60]
    assert len(caught) == 1
    assert sum(labels_of(dataset), []) == order_of_epoch(digits, 3)
    assert sum(labels_of(recmap.tensorflow.dataset(loader)), []) == order_of_epoch(digits, 4)


def test_a_move_after_a_for_that_was_left_early(digits):
    """It says where to continue, and so does an iterator that is kept, until another begins."""
    loader = recmap.Loader(digits, 20, shuffle=True, seed=7, features=FEATURES)
    dataset = recmap.tensorflow.dataset(loader)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first_labels(dataset, 3)
        gc.collect()
        loader.seek(0, 60)
        assert sum(labels_of(dataset), []) == order_of_epoch(digits, 0)[60:]
        steps = iter(dataset)
        assert next(steps)["label"].numpy().tolist() == order_of_epoch(digits, 1)[:20]
    with pytest.warns(UserWarning, match="was left early"):
        assert sum(labels_of(dataset), []) == order_of_epoch(digits, 2)


@pytest.mark.parametrize("epochs", [None, 2])
def test_a_for_that_takes_all_steps_was_not_left(digits, epochs):
    loader = recmap.Loader(digits, 600, shuffle=True, seed=7, features=FEATURES, epochs=epochs)
    dataset = recmap.tensorflow.dataset(loader)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for epoch in range(0, 2, epochs or 1):
            expected = [order_of_epoch(digits, epoch + more) for more in range(epochs or 1)]
            assert first_labels(dataset, 3 * (epochs or 1)) == sum(expected, [])
        assert bool(list(dataset)) == (epochs is None)


@pytest.mark.parametrize("policy", ["error", "skip"])
def test_a_for_over_a_join_that_is_left_early(digits, policy):
    joined = recmap.join({"a": digits, "b": digits})
    features = {"a": FEATURES, "b": FEATURES}
    loader = recmap.JoinedLoader(
        joined, 20, features=features, shuffle=True, seed=7, on_bad_record=policy
    )
    dataset = recmap.tensorflow.dataset(loader).map(lambda batch: batch["b"])
    assert first_labels(dataset, 3) == order_of_epoch(digits, 0)[:60]
    with pytest.warns(UserWarning, match="was left early"):
        assert sum(labels_of(dataset), []) == order_of_epoch(digits, 1)


def test_in_keras_like_loops(digits):
    """Datasets that are made from it: map, take, a compiled step."""
    features = {**FEATURES, "image": recmap.FixedLen((64,), "uint8", raw=True)}
    loader = recmap.Loader(digits, 256, features=features, last="drop")
    pairs = recmap.tensorflow.dataset(loader).map(
        lambda batch: (tf.cast(batch["image"], tf.float32) / 16, batch["label"])
    )

    @tf.function
    def total(dataset):
        count = tf.constant(0, tf.int64)
        for image, label in dataset:
            count += tf.reduce_sum(label) + 0 * tf.cast(tf.reduce_sum(image), tf.int64)
        return count

    assert pairs.element_spec[0].shape == (256, 64)
    assert int(total(pairs)) == int(digits.columns["label"][: 7 * 256].sum())


def test_records_without_features(made, payloads):
    loader = recmap.Loader(made, 100, shuffle=True)
    dataset = recmap.tensorflow.dataset(loader)
    assert dataset.element_spec == tf.TensorSpec((None,), tf.string)
    assert sorted(r for batch in dataset for r in batch.numpy()) == sorted(payloads)


def test_transform_needs_a_signature(digits):
    loader = recmap.Loader(
        digits, 100, features=FEATURES, transform=lambda batch: batch["label"].astype(np.int32)
    )
    with pytest.raises(ValueError, match="output_signature"):
        recmap.tensorflow.dataset(loader)
    signature = tf.TensorSpec((None,), tf.int32)
    dataset = recmap.tensorflow.dataset(loader, output_signature=signature, state=True)
    got = [n for batch, _ in dataset for n in batch.numpy()]
    assert got == digits.columns["label"].tolist()
    with pytest.raises(ValueError, match="output_signature"):
        plain = recmap.Loader(digits, 100, features=FEATURES)
        recmap.tensorflow.dataset(plain, output_signature=signature)
    with pytest.raises(ValueError, match="feature_lists"):
        recmap.tensorflow.dataset(recmap.Loader(digits, 100, feature_lists={}))


def test_errors_contain_the_message_of_the_loader(copied_digits):
    ds = recmap.open(copied_digits)
    loader = recmap.Loader(ds, 100, features={"nothing": recmap.FixedLen((), "int64")})
    with pytest.raises(tf.errors.OpError, match=r"FeatureError: .*'nothing' is missing"):
        list(recmap.tensorflow.dataset(loader))
    flip(copied_digits / "digits-00000-of-00004.tfrecord", 5000)
    loader = recmap.Loader(ds, 100, features=FEATURES)
    with pytest.raises(tf.errors.OpError, match=r"CorruptRecordError: .*digits-00000"):
        list(recmap.tensorflow.dataset(loader))


@pytest.mark.parametrize(("policy", "word"), [("skip", "skipped"), ("substitute", "replaced")])
def test_the_first_bad_record_is_named(copied_digits, policy, word):
    ds = recmap.open(copied_digits)
    flip(copied_digits / "digits-00000-of-00004.tfrecord", 5000)
    loader = recmap.Loader(ds, 100, features=FEATURES, on_bad_record=policy)
    with pytest.warns(UserWarning, match=f"^{word} a bad record: .*digits-00000.*: record") as said:
        assert sum(len(batch["label"]) for batch in recmap.tensorflow.dataset(loader)) > 1700
    assert len([one for one in said if "a bad record" in str(one.message)]) == 1


def open_indexes():
    return sum(".rmx" in line for line in open("/proc/self/maps"))


@pytest.mark.parametrize("kind", ["columns", "records", "transform", "broken off"])
def test_deleted_dataset_releases_its_loader(digits_index, kind):
    """TensorFlow keeps what it was given to call: that must not keep threads and open indexes."""

    def made():
        ds = recmap.open(DIGITS, index=digits_index)
        if kind == "transform":
            loader = recmap.Loader(ds, 100, transform=lambda batch: batch.numbers)
            return recmap.tensorflow.dataset(
                loader, output_signature=tf.TensorSpec((None,), tf.int64)
            )
        features = None if kind == "records" else FEATURES
        return recmap.tensorflow.dataset(recmap.Loader(ds, 100, features=features, threads=2))

    def use():
        for _ in made().map(lambda batch: batch).prefetch(2):
            if kind == "broken off":
                break

    use()  # TensorFlow starts threads of its own, once
    gc.collect()
    threads, indexes = len(os.listdir("/proc/self/task")), open_indexes()
    for _ in range(10):
        use()
    gc.collect()
    for _ in range(1000):
        if len(os.listdir("/proc/self/task")) < threads + 10 and open_indexes() <= indexes:
            return
        time.sleep(0.01)
    assert (len(os.listdir("/proc/self/task")), open_indexes()) == (threads, indexes)


def test_dataset_in_use_keeps_its_loader(digits):
    iterator = iter(
        recmap.tensorflow.dataset(recmap.Loader(digits, 100, features=FEATURES)).map(len)
    )
    gc.collect()
    assert sum(1 for _ in iterator) == 18


def test_traced_function_does_not_keep_the_loader(digits):
    datasets = [recmap.tensorflow.dataset(recmap.Loader(digits, 100, features=FEATURES))]

    @tf.function
    def count():
        batches = 0
        for _ in datasets[0]:
            batches += 1
        return batches

    assert count() == 18
    datasets.clear()
    gc.collect()
    with pytest.raises(tf.errors.OpError, match="the loader of this data set is gone"):
        count()


def test_urls_are_read_after_tensorflow_was_imported(tmp_path):
    """TensorFlow exports functions with the names of OpenSSL's, which libcurl calls."""
    program = (
        "import tensorflow, recmap\n"
        "storage = recmap.Storage(options={'timeout': 1})\n"
        "try: recmap.open('https://127.0.0.1:1/x', index='x.rmx', storage=storage)\n"
        "except (recmap.StorageError, recmap.UnsupportedError): print('refused')\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True
    )
    assert ended.stdout == "refused\n", ended.stderr[-2000:]


def test_a_data_set_is_not_a_loader(digits):
    with pytest.raises(TypeError, match=r"loader must be a recmap\.Loader, not <recmap\.Dataset"):
        recmap.tensorflow.dataset(digits)
