"""What DataLoaders and trainers do with an object of this package that they iterate over.

PyTorch does not tell a data set or sampler how it is used, but the variables of the functions that
ask for its iterator do. All checks are made once per iteration. Each is here because no public hook
shows the mistake, which would lose, repeat or mix records without an error:

- `refuse_collation`: a DataLoader with a batch_size stacks batches, which mixes their rows. Reads
  the fetcher's `auto_collation` and `collate_fn`.
- `refuse_division`: Accelerate, transformers or a DistributedSampler divides the share of a rank
  over the ranks again, so that most records are never read. Reads the class and its number of
  ranks.
- `refuse_distributed_sampler`: asks for the length alone, and gives its own numbers below it: the
  order is ignored, and the records above are never read. Reads the caller's class.
- `check_records`: an order of fewer records than the data set has never reads the others. Reads the
  DataLoader's `_dataset`.
- `batching_of`: a state counts steps, but a BatchSampler takes numbers, also ahead of its last
  batch: a resumed run would repeat or lose up to a batch. Reads its `batch_size` and `drop_last`.
- `Requests`: worker processes ask for numbers ahead, so that a state would be after records that
  were not delivered, which a resumed run would lose. Reads `_num_workers`, `_send_idx`, `_rcvd_idx`
  and `_persistent_workers`.
- `running_iterators`: the same for worker processes of a data set, whose loaded state the running
  ``for`` would ignore, so that it repeats records. Reads `_workers` as well.
- `StateWatch`: a state that is loaded into a StatefulDataLoader is ignored by its running iterator,
  which repeats records. Reads `next_iter_state`.

The data set sees a sampler's lists in a list itself (`MapDataset.__getitems__`). test_torch*.py and
test_trainer_mistakes.py make each of these mistakes with the real frameworks, with the pinned
release of PyTorch and once a week with its newest, so they fail if one renames what is read.
"""

from __future__ import annotations

import functools
import gc
import os
import sys
import weakref
from collections.abc import Iterable, Iterator, Sized
from types import FrameType
from typing import Any, NamedTuple, NoReturn

from torch.utils.data import ChainDataset, DataLoader, DistributedSampler, default_collate
from torch.utils.data._utils.fetch import _BaseDatasetFetcher
from torch.utils.data.dataloader import _BaseDataLoaderIter, _MultiProcessingDataLoaderIter

from .._base.errors import InvalidError
from .._base.numbers import natural
from .._base.warn import warn_caller
from .._order.orders import Order, check_fits

_FRAMES_MAX = 32  # a forked worker's first iteration is 13 frames below its DataLoader's


def refuse_collation(caller: FrameType) -> None:
    """Raises if a DataLoader asks for the iterator in order to make batches of the batches.

    Other code between them, such as a data set of the user's, may take the batches apart.
    """
    user = next((user for user in _users(caller) if not isinstance(user, ChainDataset)), None)
    if not isinstance(user, _BaseDatasetFetcher) or not user.auto_collation:
        return
    collate: Any = user.collate_fn
    if type(collate).__name__ == "RemoveColumnsCollator":  # of transformers.Trainer
        collate = getattr(collate, "data_collator", None)
    while isinstance(collate, functools.partial):
        collate = collate.func
    if collate is default_collate or _is_of(collate, "recmap"):
        raise ValueError(
            "the loader makes the batches, and the DataLoader would stack them again: write "
            "DataLoader(dataset, batch_size=None, ...)"
        )
    if _is_of(collate, "transformers"):
        raise ValueError(
            "the loader makes the batches, and the collator of transformers would stack them "
            "again: override Trainer.get_train_dataloader to return a recmap.Loader, as in "
            "docs/frameworks/transformers.md, or give the Trainer a recmap.torch.MapDataset"
        )


def refuse_division(caller: FrameType, world_size: int) -> None:
    """Raises if something divides what one of `world_size` ranks reads over the ranks again."""
    if world_size == 1:
        return
    for user in _users(caller):
        if _ranks_of(user) > 1:
            raise ValueError(
                f"recmap divides the records over {world_size} ranks, and {_name_of(user)} would "
                f"divide each share again, so that records are lost: {_advice_for(user)}"
            )


def refuse_distributed_sampler(caller: FrameType) -> None:
    """Raises if a DistributedSampler asks for the length: it would give its own numbers below it.

    Derived classes, such as Lightning's, may ask for the items: `refuse_division` finds them.
    """
    kind = type(caller.f_locals.get("self"))
    if getattr(kind, "__iter__", None) is DistributedSampler.__iter__:
        raise ValueError(
            "a DistributedSampler would not use this order, and would divide its length, not its "
            'records: write Sampler(order, batch_size, rank="auto") without it'
        )


def check_count(name: str, count: int, limit: int) -> None:
    """Raises if a `for` does not have so many steps or items."""
    if natural(name, count) > limit:
        raise ValueError(
            f"{name} is {count}, but the latest `for` has {limit}: count {name} of this `for` only"
        )


class Requests:
    """The requests of a DataLoader, which asks for numbers ahead for its worker processes."""

    def __init__(self, caller: FrameType | None = None) -> None:
        users = (user for user in _users(caller) if isinstance(user, _BaseDataLoaderIter))
        user = next((user for user in users if user._num_workers > 0), None)
        self.are_ahead = user is not None
        self.are_untold = type(user) is _MultiProcessingDataLoaderIter  # torchdata's tells
        self._user = None if user is None else weakref.ref(user)

    def __reduce__(self) -> tuple[Any, ...]:
        return Requests, ()  # a copy of the sampler has no DataLoader

    def are_left(self) -> bool:
        """Returns true if it has not delivered all batches that it asked for, and does not tell."""
        user: Any = None if self._user is None or not self.are_untold else self._user()
        return user is not None and _has_undelivered(user)

    def are_running(self) -> bool:
        """Returns true if they will still be delivered."""
        return self._user is not None and _is_running(self._user)


class StateWatch:
    """Notices a state that is loaded into a StatefulDataLoader while one of its iterators runs.

    torchdata keeps the state for the next iterator, and tells nobody.
    """

    def __init__(self, caller: FrameType | None) -> None:
        users = (user for user in _users(caller) if isinstance(user, DataLoader))
        user = next((user for user in users if hasattr(user, "next_iter_state")), None)
        self._user = None if user is None else weakref.ref(user)
        self._state = _next_state(self._user)  # with which the iterator begins

    def check(self) -> None:
        """Raises if a state was loaded since the iterator began, and no other took it."""
        state = _next_state(self._user)
        if state is not None and state is not self._state:
            raise InvalidError(
                "a state was loaded into the StatefulDataLoader after this iterator of it had "
                "begun, which would ignore the state",
                advice="Load the state first, then write `for batch in dataloader` or "
                "iter(dataloader).",
            )

    def watched(self, steps: Iterator[Any]) -> Iterator[Any]:
        """The steps, with a check before each of them."""
        return steps if self._user is None else _WatchedSteps(self, steps)


def _next_state(user: weakref.ref[Any] | None) -> Any:
    """The state that the next iterator of the StatefulDataLoader begins with."""
    return None if user is None else getattr(user(), "next_iter_state", None)


class _WatchedSteps(Iterator[Any]):
    def __init__(self, watch: StateWatch, steps: Iterator[Any]) -> None:
        self._watch, self._steps = watch, steps

    def __next__(self) -> Any:
        self._watch.check()
        return next(self._steps)


def running_iterators(processes: set[int]) -> bool:
    """Returns true if a DataLoader delivers what one of these worker processes has read ahead.

    A data set does not know the iterator of the main process. So all objects are searched for it,
    unless none of the processes is alive.
    """
    if not any(map(_is_alive, processes)):
        return False
    users = [weakref.ref(user) for user in gc.get_objects() if _is_of_workers(user, processes)]
    return any(map(_is_running, users))


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except OSError:
        return False
    return True


def _is_of_workers(user: Any, processes: set[int]) -> bool:
    if not issubclass(type(user), _BaseDataLoaderIter):
        return False
    workers: Iterable[Any] = getattr(user, "_workers", ())
    return any(worker.pid in processes for worker in workers)


def _is_running(reference: weakref.ref[Any]) -> bool:
    """Returns true if somebody may still ask the iterator for batches that were read ahead.

    The DataLoader itself keeps the iterator of persistent workers, also after its `for` was left.
    """
    user, probe = reference(), object()
    if user is None or not _has_undelivered(user):
        return False
    if not getattr(user, "_persistent_workers", False):
        return True
    keeper = [probe]  # as the DataLoader keeps the iterator
    is_kept_by_others = sys.getrefcount(user) > sys.getrefcount(probe)
    del keeper
    return is_kept_by_others


def _has_undelivered(user: Any) -> bool:
    """Returns true if an iterator over workers has not delivered all batches that it asked for.

    Its `_tasks_outstanding` does not count those that arrived before an earlier one.
    """
    return bool(getattr(user, "_rcvd_idx", 0) < getattr(user, "_send_idx", 0))


def refuse_requests_ahead() -> NoReturn:
    raise InvalidError(
        "worker processes have read ahead for a `for` over a DataLoader that still runs, so that "
        "it would ignore the state",
        advice="Load the state before iter(dataloader), or after the `for`, when its iterator is "
        "deleted.",
    )


def warn_of_left_workers() -> None:
    warn_caller(
        "the previous `for` over worker processes of a DataLoader was left early. They read ahead "
        "and do not tell what was delivered, so that this `for` starts the next epoch: to "
        "continue instead, load state_after(steps delivered) before it"
    )


def warn_of_requests_ahead(place: str) -> None:
    warn_caller(
        "worker processes of a DataLoader read ahead and do not tell what was delivered, so that "
        f"this state is {place}: use state_after(steps delivered in this `for`), or a "
        "StatefulDataLoader"
    )


def check_records(caller: FrameType, order: Order) -> None:
    """Raises if a DataLoader has a data set of another length than the order covers."""
    for user in _users(caller):
        if isinstance(user, _BaseDataLoaderIter):
            dataset: Any = user._dataset
            if isinstance(dataset, Sized):
                check_fits(order, len(dataset))
            return


class Batching(NamedTuple):
    """How the caller makes batches of a sampler's numbers."""

    size: int = 1
    drops_rest: bool = False  # numbers that do not fill the last batch
    asks_again: bool = False  # for more numbers, after a last batch that is smaller


def batching_of(caller: FrameType) -> Batching:
    user: Any = next(_users(caller), None)
    if not _makes_batches(user):
        return Batching()
    kind: Any = type(user)
    return Batching(int(user.batch_size), bool(user.drop_last), _asks_again(kind))


def _makes_batches(user: Any) -> bool:
    """Returns true if this is the BatchSampler of PyTorch or torchdata, or the latter's iterator.

    Classes derived from it, such as Accelerate's, may pass on batches of another one.
    """
    is_named_so = type(user).__name__ in ("BatchSampler", "_BatchSamplerIterator")
    return is_named_so and _is_of(type(user), "torch", "torchdata")


class _Probe(Iterator[int]):
    """Gives one number, and counts how often it is asked for more."""

    def __init__(self) -> None:
        self.asked = -1

    def __next__(self) -> int:
        self.asked += 1
        if self.asked:
            raise StopIteration
        return 0


@functools.cache
def _asks_again(kind: type) -> bool:
    """Returns true if it asks for more numbers after a smaller last batch; older ones do not."""
    if kind.__name__ == "_BatchSamplerIterator":
        return True
    probe = _Probe()
    list(kind(probe, 2, False))
    return probe.asked > 1


def _users(frame: FrameType | None) -> Iterator[Any]:
    """The objects whose methods led to this frame, the last one first."""
    for _ in range(_FRAMES_MAX):
        if frame is None:
            return
        user = frame.f_locals.get("self")
        if user is not None:
            yield user
        frame = frame.f_back


def _ranks_of(user: Any) -> int:
    """Over how many ranks it divides what it iterates over."""
    if isinstance(user, DistributedSampler):  # also Lightning's, around another sampler
        return int(user.num_replicas)
    if not _is_of(type(user), "accelerate", "transformers"):
        return 1
    if type(user).__name__ in ("BatchSamplerShard", "IterableDatasetShard"):
        return int(user.num_processes)
    if type(user).__name__ == "DataLoaderDispatcher":
        return int(user.state.num_processes)
    return 1


def _is_of(value: Any, *packages: str) -> bool:
    module = getattr(value, "__module__", None)
    return isinstance(module, str) and module.partition(".")[0] in packages


def _name_of(user: Any) -> str:
    return f"{type(user).__module__.partition('.')[0]}'s {type(user).__name__}"


def _advice_for(user: Any) -> str:
    if not isinstance(user, DistributedSampler):
        return (
            "do not pass the DataLoader to accelerator.prepare or the data set to the Trainer, but "
            "iterate over it yourself, or give recmap rank=0, world_size=1"
        )
    if _is_of(type(user), "lightning", "pytorch_lightning", "lightning_fabric"):
        return "write lightning.Trainer(use_distributed_sampler=False)"
    return "leave one of them out"
