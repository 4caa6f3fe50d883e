"""Pinned memory of recmap.torch.Loader. The allocator of PyTorch, which needs CUDA, is replaced."""

import collections
import gc
import itertools
import os
import pickle
import subprocess
import sys
import threading
import warnings
import weakref

import numpy as np
import pytest
import recmap
from conftest import ROOT, needs_images

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.filterwarnings("ignore:'set_vital' is deprecated")

FEATURES = {
    "image": recmap.FixedLen(64, "uint8", raw=True),
    "label": recmap.FixedLen((), "int64"),
    "id": recmap.FixedLen((), bytes),
    "bytes": recmap.FixedLen((), bytes, key="id", copy=True),
    "all": recmap.VarLen("int64", key="label"),
    "padded": recmap.FixedLenSequence((), "int32", key="label"),
    "sparse": recmap.Sparse("label", "label", "int64", 10),
}
PIXELS = {"image": recmap.Image((32, 48), crop=recmap.RandomResizedCrop(), flip=0.5)}
DENSE = ["image", "label", "padded", "padded/length"]
needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")


opened = weakref.WeakSet()  # loaders of the running test


class Memory(np.ndarray):
    """It lives as long as a storage over it."""


class Cuda:
    """What recmap asked of the allocator of pinned memory."""

    def __init__(self):
        self.blocks, self.copies, self.is_full = [], [], False
        self.keeps_blocks = False
        self.kept = []

    def allocate(self, size):
        assert threading.current_thread() is not threading.main_thread()
        if self.is_full:
            raise RuntimeError("CUDA error: out of memory")
        memory = np.empty(size + 64, np.uint8).view(Memory)
        made = torch.from_numpy(memory)[-memory.ctypes.data % 64 :][:size]
        self.blocks.append((made.data_ptr(), size, weakref.ref(memory)))
        if self.keeps_blocks:
            self.kept.append(made)
        return made

    def pin(self, tensor):
        assert tensor.layout == torch.strided and tensor.device.type == "cpu"
        assert threading.current_thread() is not threading.main_thread()
        self.copies.append(tensor.clone())
        return self.copies[-1]

    def is_in_block(self, tensor):
        start, end = tensor.data_ptr(), tensor.data_ptr() + tensor.nbytes
        return any(
            first <= start and end <= first + size and block() is not None
            for first, size, block in self.blocks
        )

    def is_pinned(self, tensor):
        storage = tensor.untyped_storage().data_ptr()
        return self.is_in_block(tensor) or any(
            storage == copy.untyped_storage().data_ptr() for copy in self.copies
        )


@pytest.fixture
def cuda(monkeypatch):
    fake = Cuda()
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.Tensor, "pin_memory", lambda tensor: fake.pin(tensor))
    monkeypatch.setattr(torch.Tensor, "is_pinned", lambda tensor: fake.is_pinned(tensor))
    monkeypatch.setattr("recmap.torch._pinned._allocate", fake.allocate)
    yield fake
    for loader in list(opened):  # before its threads meet the real allocator
        loader.close()


def loader_of(dataset, size=100, **more):
    arguments = {"shuffle": True, "seed": 7, "features": FEATURES, "pin_memory": True, **more}
    loader = recmap.torch.Loader(dataset, size, **arguments)
    opened.add(loader)
    return loader


def few(**more):
    """Options with which few batches are in flight."""
    return {"threads": 1, "batches_ahead": 2, "transform_threads": 1, **more}


def warm_up(loader, epochs=6):
    """Runs until about as many blocks are ready as the loader needs."""
    for _ in range(epochs):
        for _ in loader:
            pass


def tensors_of(batch):
    ragged = [part for name in ("all", "bytes") for part in batch[name]]
    sparse = [batch["sparse"]._indices().t(), batch["sparse"]._values()]
    return [*(batch[name] for name in DENSE), *ragged, *sparse]


def compare_epoch(loader, expected, cuda):
    """Returns how many tensors of an epoch are not in a block."""
    missing = 0
    expected.seek(loader.epoch)
    for batch, due in zip(loader, expected, strict=True):
        for tensor, other in zip(tensors_of(batch), tensors_of(due), strict=True):
            assert tensor.dtype == other.dtype and torch.equal(tensor, other)
            missing += not cuda.is_in_block(tensor)
        assert batch["id"] == due["id"]
    return missing


def test_columns_are_decoded_into_blocks(digits, cuda):
    """A thread that finds no block ready makes one more, so that in the end all find one."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loader = loader_of(digits, **few())
    expected = recmap.torch.Loader(digits, 100, shuffle=True, seed=7, features=FEATURES)
    for _ in range(100):
        cuda.copies.clear()
        if not compare_epoch(loader, expected, cuda):
            assert not cuda.copies
            return
    pytest.fail("some columns are never decoded into a block")


@needs_images
def test_pictures_are_decoded_into_blocks(pictures, cuda):
    loader = loader_of(pictures, 8, features=PIXELS, numbers="n", **few())
    for _ in range(100):
        cuda.copies.clear()
        if all(cuda.is_in_block(batch["image"]) for batch in loader):
            break
    else:
        pytest.fail("some pictures are never decoded into a block")
    batch = loader.peek()
    due = pictures.parse(batch["n"].numpy(), PIXELS, seed=7, epoch=loader.epoch)["image"]
    assert np.array_equal(batch["image"].numpy(), due)


def test_every_tensor_is_pinned_from_the_first_batch_on(digits, cuda):
    loader = loader_of(digits, numbers="n")
    for batch in loader:
        assert all(cuda.is_pinned(tensor) for tensor in [*tensors_of(batch)[:8], batch["n"]])
    assert pickle.loads(pickle.dumps(loader))._arguments["transform"] is None


def test_a_delivered_block_is_not_decoded_into_again(digits, cuda):
    """The device may still copy from it when the tensor is gone."""
    cuda.keeps_blocks = True
    loader = loader_of(digits, **few())
    warm_up(loader)
    delivered = []
    for batch in loader:
        delivered += [(tensor.data_ptr(), tensor.numpy().tobytes()) for tensor in tensors_of(batch)]
    del batch
    gc.collect()
    warm_up(loader)
    loader.close()
    blocks = {block.data_ptr(): block for block in cuda.kept}
    found = [(blocks[address], content) for address, content in delivered if address in blocks]
    assert len(found) > len(delivered) / 2
    for block, content in found:
        assert block[: len(content)].numpy().tobytes() == content


def test_parts_of_a_column_have_the_storage_of_the_block(digits, cuda):
    """PyTorch's allocator finds the block of a tensor by its storage."""

    def transform(batch):
        parts = {"part": batch["image"][10:], "rows": batch["all"].values[3:]}
        return {**parts, "new": batch["label"] + 1}

    loader = loader_of(digits, transform=transform, **few())
    warm_up(loader)
    cuda.copies.clear()
    found = []
    for batch in loader:
        alive = [block() for _, _, block in cuda.blocks if block() is not None]
        starts = {memory.ctypes.data for memory in alive}
        for name in ("part", "rows"):
            found.append(batch[name].untyped_storage().data_ptr() in starts)
            assert cuda.is_in_block(batch[name]) == found[-1]
        assert any(copy.data_ptr() == batch["new"].data_ptr() for copy in cuda.copies)
    assert sum(found) > len(found) / 2


def test_blocks_are_given_back(digits, cuda):
    loader = loader_of(digits)
    warm_up(loader)
    batch = next(iter(loader))
    copied = {name: batch[name].clone() for name in DENSE}
    alive = [block for _, _, block in cuda.blocks if block() is not None]
    assert len(alive) < len(cuda.blocks)
    loader.close()
    del loader, alive
    gc.collect()
    assert all(torch.equal(batch[name], copied[name]) for name in DENSE)
    del batch
    gc.collect()
    assert not any(block() is not None for _, _, block in cuda.blocks)


def test_an_empty_tensor_outlives_the_loader(digits, cuda):
    """It has no block of its own, and keeps the blocks of its batch."""
    kept = []

    def transform(batch):
        kept.append(batch["nothing"].values)
        return batch["label"]

    features = {**FEATURES, "nothing": recmap.VarLen("int64", key="absent")}
    loader = loader_of(digits, features=features, missing="ignore", transform=transform)
    warm_up(loader)
    loader.close()
    del loader
    gc.collect()
    assert all(tensor.shape == (0,) for tensor in kept)
    assert any(block() is not None for _, _, block in cuda.blocks)
    kept.clear()
    gc.collect()
    assert not any(block() is not None for _, _, block in cuda.blocks)


def test_memory_is_bounded(digits, cuda):
    """By what is in flight at once: at most 8 batches of about a dozen columns here."""
    loader = loader_of(digits, **few())
    warm_up(loader, 40)
    gc.collect()
    assert len(cuda.blocks) > 3000
    assert sum(block() is not None for _, _, block in cuda.blocks) < 200


def test_a_batch_that_is_kept(digits, cuda):
    loader = loader_of(digits)
    kept = [(batch, {name: batch[name].clone() for name in DENSE}) for batch in loader]
    warm_up(loader, 3)
    for batch, content in kept:
        assert all(torch.equal(batch[name], content[name]) for name in DENSE)


def test_without_memory_columns_are_copied(digits, cuda):
    cuda.is_full = True
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        loader = loader_of(digits)
        for batch in loader:
            assert all(cuda.is_pinned(batch[name]) for name in DENSE)
    messages = [str(warning.message) for warning in caught if "pinned" in str(warning.message)]
    assert len(messages) == 1 and messages[0].startswith(
        "no more columns are decoded into pinned memory, but copied there: CUDA error"
    )


def test_moving_stopping_and_leaving(digits, cuda):
    loader = loader_of(digits, features={"label": recmap.FixedLen((), "int64")}, numbers="n")
    labels = digits.columns["label"]
    for position in (0, 300, 1700, 5):
        loader.seek(loader.epoch, position)
        for i, batch in enumerate(loader):
            assert np.array_equal(batch["label"].numpy(), labels[batch["n"].numpy()])
            if i == 4:
                break
        loader.close()


def test_errors_of_a_transform_lose_no_batch(digits, cuda):
    failures = iter([True, False] * 1000)

    def transform(batch):
        if next(failures):
            raise KeyError("once")
        return batch

    loader = loader_of(digits, transform=transform, numbers="n", transform_threads=1, epochs=1)
    seen = []
    while len(seen) < len(digits):
        try:
            for batch in loader:
                seen += batch["n"].tolist()
        except KeyError:
            pass
    assert sorted(seen) == list(range(len(digits)))


def test_sequences_and_rows(tmp_path, cuda):
    with recmap.Writer(tmp_path / "x.tfrecord") as writer:
        for i in range(40):
            steps = {"step": [[j] for j in range(i % 3)]}
            writer.write(recmap.encode_sequence_example({"id": [i]}, steps))
    ds = recmap.open(tmp_path / "x.tfrecord", index=tmp_path / "x.rmx")
    lists = {"step": recmap.VarLen("int64")}
    loader = recmap.torch.Loader(
        ds,
        4,
        features={"id": recmap.FixedLen((), "int64")},
        feature_lists=lists,
        pin_memory=True,
        **few(),
    )
    opened.add(loader)
    warm_up(loader)
    context, batch = loader.peek()
    assert context["id"].tolist() == [0, 1, 2, 3]
    assert batch["step"].flat.values.tolist() == [0, 0, 1]
    pairs = [(context["id"], batch["step"].offsets) for context, batch in loader]
    assert sum(map(cuda.is_in_block, itertools.chain(*pairs))) > len(pairs)

    with recmap.Writer(tmp_path / "y.tfrecord") as writer:
        for i in range(40):
            writer.write(recmap.encode_example({"ids": [i] * (i + 1)}))
    ds = recmap.open(tmp_path / "y.tfrecord", index=tmp_path / "y.rmx", count=["ids"])
    order = recmap.Chunked(ds.counts["ids"], 16, seed=3)
    features = {"ids": recmap.Sliced((), "int64")}
    loader = recmap.torch.Loader(ds, 4, order=order, features=features, pin_memory=True, **few())
    warm_up(loader)
    opened.add(loader)
    plain = recmap.torch.Loader(ds, 4, order=order, features=features)
    plain.seek(loader.epoch)
    found = []
    for batch, due in zip(loader, plain, strict=True):
        assert torch.equal(batch["ids"], due["ids"])
        assert cuda.is_pinned(batch["segment_ids"])
        found.append(cuda.is_in_block(batch["ids"]))
    assert sum(found) > len(found) / 2


Pair = collections.namedtuple("Pair", "first second")


def test_results_of_a_transform_are_pinned_once(digits, cuda):
    sparse, meta = torch.eye(3).to_sparse(), torch.empty(3, device="meta")

    def transform(batch):
        label = batch["label"].float()
        return {"pair": Pair(label, [label + 1, b"x"]), "skipped": (sparse, meta), "text": "a"}

    def transform_to_user_dict(batch):
        return collections.UserDict(transform(batch))

    with loader_of(digits[:300], 300, transform=transform_to_user_dict) as loader:
        batch = loader.peek()
    first, (second, text) = batch["pair"]
    assert isinstance(batch, collections.UserDict) and isinstance(batch["pair"], Pair)
    assert [first.data_ptr(), second.data_ptr()] == [copy.data_ptr() for copy in cuda.copies]
    assert batch["skipped"][0] is sparse and batch["skipped"][1] is meta
    assert (text, batch["text"]) == (b"x", "a")
    with pytest.raises(TypeError, match="transform must be a callable, not 3"):
        loader_of(digits, transform=3)


def test_a_forked_child_leaves_the_memory_alone(digits, cuda):
    loader = loader_of(digits)
    batch = next(iter(loader))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # fork with threads
        child = os.fork()
    if not child:
        del batch, loader
        gc.collect()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert sum(len(batch["label"]) for batch in loader) == len(digits) - 100


@pytest.fixture
def pictures(tmp_path):
    """56 records, each with a JPEG of 96 x 64 pixels."""
    folder = ROOT / "tests" / "images"
    files = [path.read_bytes() for path in sorted(folder.glob("*.jpg"))]
    with recmap.Writer(tmp_path / "pictures.tfrecord", index=tmp_path / "pictures.rmx") as writer:
        for data in 4 * files:
            writer.write({"image": data})
    with recmap.open(tmp_path / "pictures.rmx") as ds:
        yield ds


SCRIPT = """
import sys
import recmap, torch
torch.cuda.is_available = lambda: True
torch.Tensor.pin_memory = lambda tensor: tensor.clone()
recmap.torch._pinned._allocate = lambda size: torch.empty(size, dtype=torch.uint8)
ds = recmap.open(sys.argv[1], allow_absolute_paths=True)
features = {"label": recmap.FixedLen((), "int64")}
loader = recmap.torch.Loader(ds, 10, features=features, pin_memory=True)
kept = [batch for _, batch in zip(range(20), loader)]
print("end")
"""


def test_the_interpreter_ends_while_the_loader_runs(digits_index):
    arguments = [sys.executable, "-c", SCRIPT, str(digits_index)]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stdout) == (0, "end\n"), done.stderr


def test_blocks_are_checked():
    pool = recmap._recmap.BlockPool()
    for address, size in [(0, 4096), (8, 4096), (4096, 5000), (4096, 64)]:
        with pytest.raises(ValueError, match="invalid block"):
            pool.add(None, address, size)
    assert pool.deliver(4096) is None and pool.wanted() == []


# ---- With a device.


@needs_cuda
def test_tensors_are_pinned(digits):
    loader = loader_of(digits, numbers="n", **few())
    warm_up(loader)
    for batch in loader:
        assert all(batch[name].is_pinned() for name in [*DENSE, "n"])


@needs_cuda
def test_copies_that_do_not_block_arrive_whole(digits):
    """The stream is kept busy, so that copies start long after their tensors are gone."""
    loader = loader_of(digits, **few())
    warm_up(loader)
    expected = recmap.torch.Loader(digits, 100, shuffle=True, seed=7, features=FEATURES)
    expected.seek(loader.epoch)
    busy, copies = torch.randn(2048, 2048, device="cuda"), []
    for _ in range(3):
        for batch in loader:
            for _ in range(20):
                busy = busy @ busy / 2048
            part = batch["image"][10:].to("cuda", non_blocking=True)
            copies.append((batch["image"].to("cuda", non_blocking=True), part))
            del batch
    torch.cuda.synchronize()
    due = [batch["image"] for _ in range(3) for batch in expected]
    for (whole, part), image in zip(copies, due, strict=True):
        assert torch.equal(whole.cpu(), image) and torch.equal(part.cpu(), image[10:])


@needs_cuda
@needs_images
def test_pictures_arrive_whole(pictures):
    loader = loader_of(pictures, 8, features=PIXELS, numbers="n", **few())
    for epoch in range(6):
        copies = [
            (batch["n"].numpy(), batch["image"].to("cuda", non_blocking=True)) for batch in loader
        ]
        torch.cuda.synchronize()
        for numbers, pixels in copies:
            due = pictures.parse(numbers, PIXELS, seed=7, epoch=epoch)["image"]
            assert np.array_equal(pixels.cpu().numpy(), due)
