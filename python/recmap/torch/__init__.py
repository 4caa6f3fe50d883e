"""recmap with PyTorch: a loader of tensors, map-style and iterable data sets, a sampler, and ranks.

    loader = recmap.torch.Loader(ds, 256, shuffle=True, features=features, rank="auto")
    for batch in loader:  # {name: tensor}, read ahead in threads
        ...

Needs the package torch (``pip install recmap[torch]``).
"""

# PyTorch seeds it in each worker process. Forked workers get it from here: if they imported it, a
# garbage collection during the import could finalize objects of the parent that import something,
# which fails with a KeyError in CPython 3.11 (python/cpython#91351).
import numpy.random as _random  # noqa: F401

from ._iterable import IterableDataset
from ._joined import JoinedLoader
from ._loader import Loader
from ._ranks import ranks
from ._sampler import Sampler
from ._samples import MapDataset, collate
from ._tensors import Ragged, sequences, tensors

__all__ = [
    "IterableDataset",
    "JoinedLoader",
    "Loader",
    "MapDataset",
    "Ragged",
    "Sampler",
    "collate",
    "ranks",
    "sequences",
    "tensors",
]


def __dir__() -> list[str]:
    """The public names, for completion."""
    return sorted(__all__)
