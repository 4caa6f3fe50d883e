"""Pictures that a loader's threads decode, when the process is forked or interrupted meanwhile, and
from remote shards. The oracle decodes them one by one."""

import os
import signal

import numpy as np
import pytest
import recmap
from conftest import ROOT, needs_images, write
from test_interrupts import Alarm, Interrupt, check_interrupted

PICTURES = ROOT / "tests" / "images"
NAMES = ["plain-444.jpg", "plain-420.jpg", "progressive.jpg", "rgb.png", "lossy.webp"]
COUNT, SIZE, SEED = 60, (40, 30), 5
SPEC = {"crop": recmap.RandomResizedCrop(), "flip": 0.5}
FEATURES = {"image": recmap.Image(SIZE, **SPEC)}

pytestmark = [
    needs_images,
    pytest.mark.skipif(not PICTURES.exists(), reason="the pictures are not here"),
]


def picture(number):
    return (PICTURES / NAMES[number % len(NAMES)]).read_bytes()


def records():
    return [recmap.encode_example({"image": picture(number)}) for number in range(COUNT)]


@pytest.fixture
def photos(tmp_path):
    write(tmp_path, records(), name="photos.tfrecord", index=tmp_path / "photos.rmx")
    with recmap.open(tmp_path / "photos.rmx") as ds:
        yield ds


def pixels_of(number, epoch):
    draw = {"seed": SEED, "epoch": epoch, "number": number}
    return recmap.decode_image(picture(number), SIZE, **SPEC, **draw)


def expected(epoch):
    return np.stack([pixels_of(number, epoch) for number in range(COUNT)])


def are_as_expected(batch, wanted):
    return all(map(np.array_equal, batch["image"], wanted[batch.numbers]))


def make_loader(ds, batch_size=20, **more):
    options = {"shuffle": True, "seed": SEED, "features": FEATURES, "threads": 3, **more}
    return recmap.Loader(ds, batch_size, **options)


# ---- Forks.


def decodes_in_a_child(ds, wanted):
    """The child has none of the threads that its parent had, and no picture is half decoded."""
    batch = ds.parse(range(COUNT), FEATURES, seed=SEED, epoch=0, threads=2)
    if not np.array_equal(batch["image"], wanted):
        return False
    with make_loader(ds, epochs=1) as loader:
        return sum(are_as_expected(batch, wanted) for batch in loader) == 3


def test_a_process_forks_while_pictures_are_decoded(photos):
    wanted = expected(0)
    with make_loader(photos) as loader:
        for _ in range(8):
            batches = iter(loader)
            first = next(batches)
            child = os.fork()
            if not child:
                signal.alarm(120)  # ends a child that hangs
                os._exit(0 if decodes_in_a_child(photos, wanted) else 1)
            epoch = first.epoch
            for batch in (first, *batches):
                assert are_as_expected(batch, expected(epoch))
            assert os.waitpid(child, 0)[1] == 0


# ---- Interrupts.


def test_a_loop_over_pictures_is_interrupted(photos):
    order, wanted = recmap.Shuffled(COUNT, SEED), {}

    def make():
        loader = make_loader(photos, 4)  # most interrupts fall between the batches of an epoch
        return loader, loader

    def numbers_of(batch):
        epoch = batch.epoch
        if epoch not in wanted:
            wanted[epoch] = expected(epoch)
        assert are_as_expected(batch, wanted[epoch])
        return batch.numbers.tolist()

    check_interrupted(
        make, numbers_of, lambda epoch: order.at(epoch, range(COUNT)).tolist(), seed=11, count=60
    )


@pytest.mark.parametrize("threads", [1, 2])
def test_a_parse_of_pictures_is_interrupted(photos, threads):
    options = {"seed": SEED, "epoch": 0, "threads": threads}
    numbers, wanted = np.arange(3000) % COUNT, expected(0)
    with Alarm(3) as alarm:
        for _ in range(10):
            with pytest.raises(Interrupt):
                alarm.arm()
                photos.parse(numbers, FEATURES, **options)
            alarm.disarm()
            batch = photos.parse(range(COUNT), FEATURES, **options)
            assert np.array_equal(batch["image"], wanted)


# ---- Remote shards.


def batches_of(ds):
    with make_loader(ds, epochs=2) as loader:
        return [(batch.epoch, batch.numbers.tolist(), batch["image"]) for batch in loader]


@pytest.mark.parametrize("is_cached", [False, True])
def test_remote_shards_give_the_same_pixels(server, tmp_path, is_cached):
    bucket = server.folder / "photos"
    bucket.mkdir()
    write(bucket, records(), 3, name="part-{shard}.tfrecord")
    options = {"options": server.options(), "allow_urls": True}
    if is_cached:
        options["cache"] = tmp_path / "cache"
    url, storage = "s3://photos/part-*.tfrecord", recmap.Storage(**options)
    with (
        recmap.open(bucket / "part-*.tfrecord", index=tmp_path / "local.rmx") as local,
        recmap.open(url, index=tmp_path / "remote.rmx", storage=storage) as remote,
    ):
        wanted, found = batches_of(local), batches_of(remote)
        assert len(found) == 6 and found[0][0] == 0 and found[-1][0] == 1
        for (epoch, numbers, pixels), other in zip(wanted, found, strict=True):
            assert other[:2] == (epoch, numbers)
            assert np.array_equal(other[2], pixels)
        parsed = remote.parse(range(COUNT), FEATURES, seed=SEED, epoch=1, threads=2)
        for epoch, numbers, pixels in found[3:]:
            assert epoch == 1 and np.array_equal(pixels, parsed["image"][numbers])
