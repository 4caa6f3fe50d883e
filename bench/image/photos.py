"""Photos to measure with, or to show: parts of those that scikit-image and scikit-learn ship
(public domain, CC0 and CC BY, as their documentation says), with the noise of a sensor, as JPEG.
The same in every run.

usage: photos.py FILE.tfrecord     writes 60 of them, without those that are CC BY
"""

import io
import sys

import numpy as np
import skimage.data
import sklearn.datasets
from PIL import Image

SMALL = {(375, 500): 200}
FREE = 4  # so many originals, the first, are public domain or CC0
LARGE = {(1200, 1600): 20, (1365, 2048): 20}


def originals() -> list[Image.Image]:
    names = ("astronaut", "rocket", "coffee", "chelsea")
    pixels = [getattr(skimage.data, name)() for name in names]
    pixels += sklearn.datasets.load_sample_images().images
    return [Image.fromarray(np.asarray(photo)[..., :3]) for photo in pixels]


def photo(original: Image.Image, height: int, width: int, random: np.random.Generator) -> bytes:
    """A random part of a photo, scaled to the size: three in four with half the chroma samples in
    both directions, the others with all of them."""
    part = min(original.width, original.height * width / height)
    part *= random.uniform(0.7, 1)
    x = random.uniform(0, original.width - part)
    y = random.uniform(0, original.height - part * height / width)
    box = (x, y, x + part, y + part * height / width)
    pixels = np.asarray(original.resize((width, height), Image.Resampling.BICUBIC, box))
    noisy = pixels + random.normal(0, 6, pixels.shape)
    file = io.BytesIO()
    subsampling = 0 if random.integers(4) == 0 else 2
    Image.fromarray(noisy.clip(0, 255).astype(np.uint8)).save(
        file, "JPEG", quality=int(random.integers(91, 98)), subsampling=subsampling
    )
    return file.getvalue()


def photos(sizes: dict[tuple[int, int], int], sources: list | None = None) -> list[bytes]:
    random = np.random.default_rng(1)
    sources = sources or originals()
    return [
        photo(sources[i % len(sources)], *size, random)
        for size, count in sizes.items()
        for i in range(count)
    ]


def main() -> None:
    import recmap

    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with recmap.Writer(sys.argv[1]) as writer:
        for number, data in enumerate(photos({(375, 500): 60}, originals()[:FREE])):
            writer.write({"image/encoded": data, "label": number % FREE})


if __name__ == "__main__":
    main()
