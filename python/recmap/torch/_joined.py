"""The loader of joined data sets whose batches are tensors."""

from __future__ import annotations

from typing import Any

from .._dataset.dataset import Dataset
from .._loader.joined import JoinedLoader as _JoinedLoader
from .._loader.loader import Loader as _Loader
from ._loader import Loader

__all__ = ["JoinedLoader"]


class JoinedLoader(_JoinedLoader):
    """A `recmap.JoinedLoader` whose batches are {name: tensors}, with one `Loader` of this module
    for each data set. It takes the options of that `Loader`, such as ``pin_memory=True``.

    >>> ds = digits()
    >>> joined = recmap.join({"all": ds, "threes": ds.where("label == 3")})
    >>> wanted = {"all": None, "threes": {"label": recmap.FixedLen((), "int64")}}
    >>> loader = recmap.torch.JoinedLoader(joined, 100, features=wanted, shuffle=True, seed=7)
    >>> [batch["threes"]["label"].shape for batch in loader]
    [torch.Size([100]), torch.Size([83])]
    """

    _module = "recmap.torch"

    def _loader_of(
        self, lead: _Loader[Any] | None, view: Dataset, batch_size: int, **options: Any
    ) -> Loader[Any]:
        return Loader._drawing_as(lead, view, batch_size, **options)
