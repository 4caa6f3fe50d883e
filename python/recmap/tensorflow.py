"""recmap with TensorFlow: a loader as a tf.data.Dataset of batches.

    loader = recmap.Loader(ds, 256, shuffle=True, seed=7, features=features)
    for batch in recmap.tensorflow.dataset(loader): ...      # one epoch

Needs the package tensorflow (``pip install recmap[tensorflow]``).
"""

from __future__ import annotations

import itertools
import json
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import tensorflow as tf

from ._base.errors import InvalidError
from ._base.names import suggest_arguments
from ._base.warn import warn_caller
from ._columns import BytesColumn, RaggedColumn, name_of_lengths
from ._example.boxes import Boxes, visible_name_of
from ._example.elements import element_of, shape_of
from ._example.features import (
    FixedLen,
    FixedLenSequence,
    Ragged,
    Sliced,
    Sparse,
    VarLen,
    feature_of,
    value_shape_of,
)
from ._example.images import Image
from ._loader.joined import JoinedLoader, check_loader
from ._loader.loader import Loader
from ._loader.moves import Moves

__all__ = ["dataset"]


def __dir__() -> list[str]:
    """The public names, for completion."""
    return sorted(__all__)


@suggest_arguments
def dataset(
    loader: Loader[Any] | JoinedLoader, *, state: bool = False, output_signature: Any = None
) -> Any:
    """The batches of a loader as a ``tf.data.Dataset`` of ``{name: tensor}``.

    Iterating over it once equals one ``for`` over the loader: from the current position to the end
    of the epoch (``model.fit(dataset, epochs=3)`` trains on three), or as its ``epochs`` says. The
    loader's threads read and parse ahead, so neither ``prefetch`` nor ``map`` with a parser is
    needed.

    TensorFlow reads ahead by itself and does not tell what was delivered. So a ``for`` that is left
    early ends the epoch in which it began: the next one starts the next epoch, with a warning. To
    continue, use `state`.

    FixedLen and padded sequences become a Tensor, VarLen and Ragged a RaggedTensor, and Sparse a
    SparseTensor, all over the library's memory. A padded sequence has an additional item ``name +
    "/length"`` with the number of steps of each row. Bytes become a Tensor of strings, which are
    copied, because TensorFlow owns its strings. Features of tf.io become the same as with
    ``tf.io.parse_example``: a VarLenFeature becomes a SparseTensor, and a FixedLenSequenceFeature
    has no lengths. Without features, an element is a Tensor of strings: the records. Rows become
    Tensors, with the additional "segment_ids", "positions" and "mask", or only "mask" for windows.

    Keep the dataset, one made from it (``map``, ``prefetch``, ...), an iterator over one of these,
    or the loader while you need batches: each of them keeps the loader, but functions that
    TensorFlow has traced do not. When the last object that keeps the loader is released, its
    threads end, and the files of the data set are closed unless you also keep the data set.

    Of a `recmap.JoinedLoader`, an element is {name: such a dict, or the records}.

    Args:
        loader: the loader. It has one iterator at a time, so iterate over one dataset at a time.
        state: elements are (batch, state), where state is a scalar string: the JSON of
            ``loader.state_dict()`` after this batch. Save the state of the last batch that you
            trained on, and resume with ``loader.load_state_dict(json.loads(state.numpy()))``. This
            is exact even if tf.data reads ahead; `loader.state_dict()` includes the batches read
            ahead.
        output_signature: describes the results of the loader's ``transform``, as for
            ``tf.data.Dataset.from_generator``.

    Raises (during iteration):
        tf.errors.UnknownError, InvalidArgumentError: the loader raised an exception, which the
            message contains.

    >>> image = recmap.FixedLen((64,), "uint8", raw=True)
    >>> features = {"label": recmap.FixedLen((), "int64"), "image": image}
    >>> loader = recmap.Loader(digits(), 256, features=features, last="drop")
    >>> recmap.tensorflow.dataset(loader).element_spec["image"]
    TensorSpec(shape=(256, 64), dtype=tf.uint8, name=None)
    """
    if isinstance(loader, JoinedLoader):
        transformed = loader._transform is not None
    else:
        check_loader(loader)
        transformed = loader._arguments["transform"] is not None
    if transformed != (output_signature is not None):
        raise ValueError(
            "output_signature= is required if the loader has a transform"
            if transformed
            else "output_signature= describes the results of a transform, but there is none"
        )
    if isinstance(loader, JoinedLoader):
        return _of_joined(loader, state, output_signature)
    if transformed:
        made = _of_transformed(_Held(loader), state, output_signature)
    else:
        made = _of_layout(_Held(loader), state, _layout_of(loader))
    return _keep(loader, made)


def _keep(loader: Loader[Any] | JoinedLoader, made: Any) -> Any:
    """Keeps the loader, which generators refer to weakly, as long as the data set."""
    made._recmap_loader = loader
    return made


def _of_joined(joined: JoinedLoader, state: bool, signature: Any) -> Any:
    if joined._transform is not None:
        return _keep(joined, _of_transformed(_Held(joined), state, signature))
    layouts = {name: _layout_of(loader) for name, loader in joined.loaders.items()}
    return _keep(joined, _of_layout(_Held(joined), state, _JoinedLayout(layouts)))


class _Held:
    """A loader that the data set's Python object keeps, and the functions in TensorFlow do not:
    those are never released, and with them threads and open files would stay."""

    def __init__(self, loader: Loader[Any] | JoinedLoader) -> None:
        self._loader = weakref.ref(loader)

    def iterate(self, finish: Callable[[Any, str], Any], state: bool) -> Iterator[Any]:
        """What `finish` makes of each batch and the state after it, as JSON; "" without `state`."""
        loader = self._loader()
        if loader is None:
            raise RuntimeError(
                "the loader of this data set is gone: keep what recmap.tensorflow.dataset "
                "returned, or the loader, for as long as its elements are asked for"
            )
        if isinstance(loader, JoinedLoader):
            _leave(loader, loader._first)
            steps = loader._iterate(
                lambda batch, place: finish(batch, _text(loader._state_at(place)) if state else "")
            )
            return _followed([part._moves for part in loader.loaders.values()], steps, loader.epoch)
        _leave(loader, loader)
        steps = loader._iterate(
            lambda batch, step: finish(
                batch, _text(loader._state_at(step.epoch, step.position)) if state else ""
            )
        )
        return _followed([loader._moves], steps, loader.epoch)


def _leave(loader: Loader[Any] | JoinedLoader, lead: Loader[Any]) -> None:
    """Ends the epoch of a `for` that was left early: what it got of the batches that were read is
    unknown. Unless the loader was moved since, which says where to continue."""
    left, limit = lead._moves.ahead, lead._epoch_limit()
    is_over = lead._is_at_end() if limit is None else lead.epoch >= limit
    if left is None or is_over:
        return
    loader.close()  # ends the former iteration, which TensorFlow may not have released yet
    if lead._restarts:
        return
    loader._go_to(left.epoch + 1, 0)
    if not lead._moves.has_warned:
        lead._moves.has_warned = True
        warn_caller(
            "the previous `for` over a data set of TensorFlow was left early. TensorFlow reads "
            "ahead and does not tell what was delivered, so that this `for` starts the next "
            "epoch: to continue instead, load the state of recmap.tensorflow.dataset(loader, "
            "state=True) before it"
        )


class _Running:
    """A `for` over a data set of TensorFlow, whose threads read ahead of it."""

    is_over = False

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch  # in which it began

    def refuse_move(self) -> None:
        if not self.is_over:
            raise InvalidError(
                "TensorFlow has read ahead for a `for` that still runs, so that it would give "
                "batches from before the move",
                advice="Load the state before the `for`, or after it, when its iterator is "
                "deleted.",
            )

    def note_move(self) -> None:
        """Nothing is running, or this is the step back after a failure."""


def _followed(moves: list[Moves], steps: Iterator[Any], epoch: int) -> Iterator[Any]:
    """The steps, of a loader that cannot be moved between the first of them and the last.

    TensorFlow releases the generator with its iterator, also if that is left early: only then is
    this still the `for` that is ahead.
    """
    running = _Running(epoch)
    for of_loader in moves:
        of_loader.add(running)
    moves[0].ahead = running
    is_left = False
    try:
        yield from steps
    except GeneratorExit:
        is_left = True
        raise
    finally:
        running.is_over = True
        if moves[0].ahead is running and not is_left:
            moves[0].ahead = None


def _text(state: dict[str, Any]) -> str:
    return json.dumps(state, separators=(",", ":"))


def _of_transformed(held: _Held, state: bool, signature: Any) -> Any:
    def iterate() -> Iterator[Any]:
        return held.iterate(lambda batch, text: (batch, text) if state else batch, state)

    if state:
        signature = signature, tf.TensorSpec((), tf.string)
    return tf.data.Dataset.from_generator(iterate, output_signature=signature)


@dataclass(frozen=True)
class _Form:
    """How a column becomes a tensor: the NumPy arrays for tf.data, and the tensor built of them."""

    specs: list[Any]
    take: Callable[[Any], list[Any]]
    build: Callable[..., Any]
    of_lengths: str = ""  # the column whose lengths these are


@dataclass(frozen=True)
class _Layout:
    """How a batch of a loader becomes a flat list of arrays, and their tensors a batch again."""

    forms: dict[str, _Form] | _Form  # of the columns; or of the records

    def _named(self) -> dict[str, _Form]:
        return {"": self.forms} if isinstance(self.forms, _Form) else self.forms

    def specs(self) -> list[Any]:
        return [spec for form in self._named().values() for spec in form.specs]

    def take(self, batch: Any) -> list[Any]:
        if isinstance(self.forms, _Form):
            return self.forms.take(batch)
        lengths = batch.lengths
        return [
            part
            for name, form in self.forms.items()
            for part in form.take(lengths[form.of_lengths] if form.of_lengths else batch[name])
        ]

    def build(self, parts: Iterator[Any]) -> Any:
        """Takes as many tensors as there are specs."""
        built = {
            name: form.build(*itertools.islice(parts, len(form.specs)))
            for name, form in self._named().items()
        }
        return built[""] if isinstance(self.forms, _Form) else built


@dataclass(frozen=True)
class _JoinedLayout:
    """The same for batches of a JoinedLoader."""

    layouts: dict[str, _Layout]

    def specs(self) -> list[Any]:
        return [spec for layout in self.layouts.values() for spec in layout.specs()]

    def take(self, batch: Any) -> list[Any]:
        return [part for name, layout in self.layouts.items() for part in layout.take(batch[name])]

    def build(self, parts: Iterator[Any]) -> Any:
        return {name: layout.build(parts) for name, layout in self.layouts.items()}


def _of_layout(held: _Held, state: bool, layout: _Layout | _JoinedLayout) -> Any:
    """Passes the arrays as a flat tuple, because tf.data then does not copy NumPy's memory."""

    def parts_of(batch: Any, text: str) -> tuple[Any, ...]:
        parts = layout.take(batch)
        return (*parts, text) if state else tuple(parts)

    def iterate() -> Iterator[tuple[Any, ...]]:
        return held.iterate(parts_of, state)

    def build(*parts: Any) -> Any:
        rest = iter(parts)
        batch = layout.build(rest)
        return (batch, next(rest)) if state else batch

    specs = layout.specs()
    if state:
        specs.append(tf.TensorSpec((), tf.string))
    return tf.data.Dataset.from_generator(iterate, output_signature=tuple(specs)).map(build)


def _layout_of(loader: Loader[Any]) -> _Layout:
    if loader._arguments["feature_lists"] is not None:
        raise ValueError(
            "a loader with feature_lists needs a transform to arrays, and output_signature="
        )
    return _Layout(_forms(loader))


def _forms(loader: Loader[Any]) -> dict[str, _Form] | _Form:
    features, rows = loader._arguments["features"], _rows_of_a_batch(loader)
    if features is None:
        return _dense((rows,), tf.string)
    width = loader._order.row_width()
    forms = {name: _form_of_rows(feature, rows, width) for name, feature in features.items()}
    for name, feature in features.items():
        if isinstance(feature, FixedLenSequence) and not feature.ragged:
            lengths = replace(_dense((rows,), tf.int64), of_lengths=name)
            forms[name_of_lengths(name, features)] = lengths
        if isinstance(feature, Boxes):
            forms[visible_name_of(name)] = _ragged(rows, [], (), tf.float32, tf.int64)
    for name in loader._form.names if width else ():
        dtype = tf.bool if name == "mask" else tf.int32
        forms.setdefault(name, _dense((rows, width), dtype))
    return forms


def _form_of_rows(given: Any, rows: int | None, width: int) -> _Form:
    feature = feature_of(given)
    if not width or not isinstance(feature, Sliced):
        return _form(given, rows)
    element = element_of(feature.dtype)
    dtype = tf.string if element == "bytes" else tf.as_dtype(element)
    return _dense((rows, width, *value_shape_of(feature)), dtype)


def _rows_of_a_batch(loader: Loader[Any]) -> int | None:
    """The static batch dimension, or None if batches differ in size."""
    arguments = loader._arguments
    is_fixed = arguments["last"] in ("drop", "pad") and arguments["on_bad_record"] != "skip"
    return loader._batch_size if is_fixed and not loader.order.batch_count else None


def _form(given: Any, rows: int | None) -> _Form:
    feature = feature_of(given)
    if isinstance(feature, Boxes):
        return _ragged(rows, [], (4,), tf.float32, tf.int64)
    element = element_of(feature.dtype)
    dtype = tf.string if element == "bytes" else tf.as_dtype(element)
    if isinstance(feature, FixedLen):
        return _dense((rows, *value_shape_of(feature)), dtype)
    if isinstance(feature, Image):
        if feature.size is None:
            raise TypeError(
                "an image without a size has rows of different shapes, which TensorFlow has no "
                "tensors for: give it a size"
            )
        return _dense((rows, *feature._row_shape()), dtype)
    if isinstance(feature, Sparse):
        return _sparse((rows, *shape_of(feature.size)), dtype)
    if isinstance(feature, FixedLenSequence) and not feature.ragged:
        return _dense((rows, None, *value_shape_of(feature)), dtype)
    if isinstance(given, tf.io.VarLenFeature):
        return _sparse((rows, None), dtype, _coordinates)
    assert isinstance(feature, (FixedLenSequence, Ragged, VarLen))
    inner = value_shape_of(feature)
    lengths = _row_lengths(feature)
    while lengths and lengths[-1] is not None:  # the library turns these into dimensions
        inner = (lengths.pop(), *inner)
    splits = getattr(given, "row_splits_dtype", tf.int64)
    return _ragged(rows, lengths, inner, dtype, splits)


def _row_lengths(feature: Any) -> list[Any]:
    """The uniform row length of each partition, from the outermost; None if rows differ."""
    partitions = feature.partitions if isinstance(feature, Ragged) else ()
    return [getattr(partition, "length", None) for partition in partitions]


def _numpy(values: Any) -> Any:
    return values.to_numpy() if isinstance(values, BytesColumn) else values


def _dense(shape: tuple[int | None, ...], dtype: Any) -> _Form:
    def take(column: Any) -> list[Any]:
        if dtype == tf.string and not isinstance(column, BytesColumn):  # records
            records = np.empty(len(column), object)
            records[:] = list(map(bytes, column))
            return [records]
        return [_numpy(column)]

    return _Form([tf.TensorSpec(shape, dtype)], take, lambda tensor: tensor)


def _ragged(
    rows: int | None, lengths: list[Any], inner: tuple[int | None, ...], dtype: Any, splits: Any
) -> _Form:
    """Nested rows. `lengths` has the uniform row length of each inner level, or None."""
    first = None if rows is None else rows + 1
    specs = [tf.TensorSpec((None, *inner), dtype), tf.TensorSpec((first,), splits)]
    specs += [tf.TensorSpec((None,), splits) for _ in lengths]

    def take(column: Any) -> list[Any]:
        offsets = []
        while isinstance(column, RaggedColumn):
            offsets.append(column.offsets)  # tf.data converts them to int32 if asked to
            column = column.values
        return [_numpy(column), *offsets]

    def build(ragged: Any, *offsets: Any) -> Any:
        kind: Any = tf.RaggedTensor
        for cuts, length in reversed(list(zip(offsets, [None, *lengths], strict=True))):
            if length is None:
                ragged = kind.from_row_splits(ragged, cuts, validate=False)
            else:
                ragged = kind.from_uniform_row_length(ragged, tf.constant(length, splits))
        return ragged

    return _Form(specs, take, build)


def _parts_of_sparse(column: Any) -> list[Any]:
    return [column.indices, _numpy(column.values), np.array(column.dense_shape, np.int64)]


def _coordinates(column: RaggedColumn) -> list[Any]:
    """The parts of the SparseTensor that tf.io.parse_example returns for a VarLenFeature."""
    lengths, offsets = column.lengths, column.offsets
    indices = np.empty((int(offsets[-1]), 2), np.int64)
    indices[:, 0] = np.repeat(np.arange(len(column)), lengths)
    indices[:, 1] = np.arange(len(indices)) - np.repeat(offsets[:-1], lengths)
    longest = int(lengths.max(initial=0))
    return [indices, _numpy(column.values), np.array([len(column), longest], np.int64)]


def _sparse(
    shape: tuple[int | None, ...],
    dtype: Any,
    take: Callable[[Any], list[Any]] = _parts_of_sparse,
) -> _Form:
    rank = len(shape)
    specs = [
        tf.TensorSpec((None, rank), tf.int64),
        tf.TensorSpec((None,), dtype),
        tf.TensorSpec((rank,), tf.int64),
    ]

    def build(indices: Any, values: Any, dense_shape: Any) -> Any:
        tensor = tf.SparseTensor(indices, values, dense_shape)
        tensor.set_shape(shape)
        return tensor

    return _Form(specs, take, build)
