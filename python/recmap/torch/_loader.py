"""The loader whose batches are tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, Unpack, overload

import torch

from .. import _recmap
from .._base.names import suggest_arguments
from .._base.warn import warn_caller
from .._dataset.dataset import Dataset
from .._example.features import Features
from .._loader.loader import Loader as _Loader
from .._loader.options import LoaderOptions
from ._pinned import PinnedBlocks, Pinning
from ._tensors import Extras, Tensors, convert

Batch = TypeVar("Batch")


class Loader(_Loader[Batch]):
    """A `recmap.Loader` whose batches are tensors, without worker processes.

    The library's threads read and parse ahead, and `tensors` converts the columns without copying
    them. With `features`, a batch is {name: tensor}; without, a list of bytes; with
    `feature_lists`, a pair of dicts. `transform` gets these tensors instead of columns.

    The state after an epoch's last batch follows torchdata's convention, like all of
    `recmap.torch`: `epoch_end` is "end" if it is not given. Lightning and transformers need "next"
    (docs/frameworks/torch.md).

    Args:
        numbers, seeds: the names of additional items with the records' numbers, and with random
            numbers for augmentation of your own, as for `tensors`.
        pin_memory: decode columns straight into PyTorch's pinned memory, so that
            ``tensor.to("cuda", non_blocking=True)`` does not wait. What is not decoded there is
            copied there ahead of its use, in the threads of `transform`: new tensors that
            `transform` returns, `numbers`, and columns for which no pinned memory was ready, such
            as in the first batches. Without CUDA, this does nothing, with a warning.

    The other arguments are as for `recmap.Loader`.

    >>> image = recmap.FixedLen(64, "uint8", raw=True)
    >>> features = {"label": recmap.FixedLen((), "int64"), "image": image}
    >>> loader = recmap.torch.Loader(digits(), 600, shuffle=True, seed=7, features=features)
    >>> [(batch["label"].shape, batch["image"].dtype) for batch in loader][2]
    (torch.Size([597]), torch.uint8)
    """

    # The type of the batches, as in recmap.Loader. A base class cannot state both: type checkers do
    # not infer the parameter of a derived class from the type of `self` in a base.
    if TYPE_CHECKING:

        @overload
        def __init__(
            self: Loader[list[bytes]],
            dataset: Dataset,
            batch_size: int | None = None,
            *,
            features: None = None,
            feature_lists: None = None,
            transform: None = None,
            numbers: str | None = None,
            seeds: Sequence[str] = (),
            pin_memory: bool = False,
            **options: Unpack[LoaderOptions],
        ) -> None: ...
        @overload
        def __init__(
            self: Loader[Tensors],
            dataset: Dataset,
            batch_size: int | None = None,
            *,
            features: Features,
            feature_lists: None = None,
            transform: None = None,
            numbers: str | None = None,
            seeds: Sequence[str] = (),
            pin_memory: bool = False,
            **options: Unpack[LoaderOptions],
        ) -> None: ...
        @overload
        def __init__(
            self: Loader[tuple[Tensors, Tensors]],
            dataset: Dataset,
            batch_size: int | None = None,
            *,
            features: Features | None = None,
            feature_lists: Features,
            transform: None = None,
            numbers: str | None = None,
            seeds: Sequence[str] = (),
            pin_memory: bool = False,
            **options: Unpack[LoaderOptions],
        ) -> None: ...
        @overload
        def __init__(
            self: Loader[Batch],
            dataset: Dataset,
            batch_size: int | None = None,
            *,
            features: Features | None = None,
            feature_lists: Features | None = None,
            transform: Callable[[Any], Batch] | None,
            numbers: str | None = None,
            seeds: Sequence[str] = (),
            pin_memory: bool = False,
            **options: Unpack[LoaderOptions],
        ) -> None: ...

    @suggest_arguments(options=LoaderOptions.__annotations__)
    def __init__(
        self,
        dataset: Dataset,
        batch_size: int | None = None,
        *,
        features: Features | None = None,
        feature_lists: Features | None = None,
        transform: Callable[[Any], Any] | None = None,
        numbers: str | None = None,
        seeds: Sequence[str] = (),
        pin_memory: bool = False,
        **options: Unpack[LoaderOptions],
    ) -> None:
        self._extras = Extras.of(numbers, seeds)
        # Pinned last, because the transform's own tensors are the ones to copy to the device.
        function: Callable[[Any], Any] | None = transform
        self._blocks: PinnedBlocks | None = None
        if pin_memory and _has_cuda():
            function, self._blocks = Pinning(transform), PinnedBlocks()
            self._memory = self._blocks.pool
        options.setdefault("epoch_end", "end")  # as torchdata
        super().__init__(
            dataset,
            batch_size,
            features=features,
            feature_lists=feature_lists,
            transform=function,
            **options,
        )
        self._arguments.update(
            transform=transform, numbers=numbers, seeds=seeds, pin_memory=pin_memory
        )

    def __getitem__(self, index: object) -> NoReturn:
        # DataLoader(loader) comes here, because a loader has a length.
        raise TypeError(
            "a recmap.torch.Loader is iterated, not indexed: write `for batch in loader`, without "
            "a DataLoader, or DataLoader(recmap.torch.IterableDataset(loader), batch_size=None) "
            "with a recmap.Loader, to use worker processes. For transformers.Trainer, return "
            "such a loader from get_train_dataloader"
        )

    def _columns_of_step(self) -> Callable[[_recmap.Step], Any]:
        columns_of_step, extras = super()._columns_of_step(), self._extras
        blocks = self._blocks
        if blocks is None:
            return lambda step: convert(columns_of_step(step), extras)

        def tensors_of_step(step: _recmap.Step) -> Any:
            made = convert(columns_of_step(step), extras, blocks.adopt)
            blocks.refill()
            return made

        return tensors_of_step


def _has_cuda() -> bool:
    if torch.cuda.is_available():
        return True
    warn_caller("pin_memory=True does nothing, because there is no CUDA device")
    return False
