"""recmap with PyTorch: tensors, map-style and iterable data sets, a sampler, and ranks.

    loader = recmap.Loader(ds, 256, shuffle=True, features=features, **recmap.torch.ranks())
    for batch in recmap.torch.IterableDataset(loader):  # {name: tensor}, read ahead in threads
        ...

Needs the package torch (``pip install recmap[torch]``).
"""

from ._iterable import IterableDataset
from ._ranks import ranks
from ._sampler import Sampler
from ._samples import MapDataset, collate
from ._tensors import Ragged, tensors

__all__ = ["IterableDataset", "MapDataset", "Ragged", "Sampler", "collate", "ranks", "tensors"]
