"""Data sets."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from .. import _recmap
from .._base.context import Closing
from .._base.errors import StaleIndexError, UnsupportedError, in_python
from .._base.names import suggest_arguments
from .._base.numbers import Numbers, natural
from .._base.plural import counted
from .._base.warn import warn_caller
from .._columns.record_batch import register_sequence
from .._display.progress import Progress, shown
from .._display.text import joined, size_text
from .._example.features import Features
from .._options.options import (
    ConcatOptions,
    Lift,
    MissingLift,
    OpenOptions,
    check_missing,
    check_missing_is_used,
    new_lifts_of,
)
from .._options.storage import Path, size_of
from .annotate import Key, Unmatched, changes_of, ignores_unmatched
from .described import Dataset as Described
from .records import Dataset as Records
from .selection import Selection
from .verify import verify_records

if TYPE_CHECKING:
    from .._display.tables import Table

__all__ = ["Dataset", "check_dataset"]


class Dataset(Records, Described, Closing):
    """Random access to records by number or by id. Created by `recmap.open`.

    ``data_set[i]`` is a read-only memoryview into the mapped shard, with its CRC checked and
    without a copy. The view keeps the shard mapped, even after the data set is closed or collected.
    Slices, lists of positions and `select` give views, which are data sets too.

    Safe to use from many threads, and in a child process after a fork. Pickling stores the path and
    the options: unpickling opens the index again, so it must be reachable there. An index of other
    shards is then refused, which takes 0.2 s for 100,000 shards.
    """

    @suggest_arguments
    def annotate(
        self,
        columns: Any = MappingProxyType({}),
        by: Key | None = None,
        *,
        unmatched: Unmatched = "error",
        default: Mapping[str, object] = MappingProxyType({}),
        missing_values: MissingLift | None = None,
        drop: Iterable[str] = (),
        rename: Mapping[str, str] = MappingProxyType({}),
        progress: Progress = "auto",
    ) -> Dataset:
        """Adds columns to the index, without changing a shard, and returns this data set.

        The index is rewritten and replaced. This data set has the new columns at once; others that
        are open, also views of this one, keep reading the index as it was.

        Args:
            columns: {name: values}, a table of pandas, polars or Arrow, or the path of a CSV, TSV
                or JSON lines file, all of whose fields are added. The values are a mapping from
                keys to values; a tuple of keys and values; an array or a list with one value for
                each record, in their order; or the path of such a file or a NumPy file. A column
                "id" or of the id feature's name, or else "number", of arrays, a table or a file has
                the keys of the others, and is not added. None is a missing value.
            by: what a key is: the "id" or the "number" of a record. It names the column that has
                the keys; all others of a table are added then. Without it, keys of a mapping or a
                tuple are numbers. The index of a pandas Series has the keys if `by` is given, and
                must be 0 to n - 1 otherwise. The default index does not count as ids.
            unmatched: what to do with keys that no record has: "error" (the default), with how many
                there are, or "ignore", with a warning that says how many. If no record has any of
                the keys, that is always an error.
            default: {name: value} for records without a value.
            missing_values: what records without a value are in a column that has no default: "null"
                (the default), or an "error", which leaves the index unchanged.
            drop: names of columns to remove first.
            rename: {old name: new name}, after that.

        A column is of type int64, float32, float64 or bytes (texts are stored as UTF-8, at most 255
        bytes). It is float64 if float32 would change a value, or does not hold a number of a file
        as it is written. A warning names the first integer that float64 does not hold exactly.

        Raises:
            ValueError: a key occurs twice, or no record has it, unless that is ignored; a record
                has no value, with ``missing_values="error"``; a column has neither values nor a
                default; or the data set is a view or a concatenation.
            ColumnNotFoundError: there is no column to drop or rename.

        >>> ds = recmap.open("data/digits", id="id", index=folder / "labelled.rmx")
        >>> ds = ds.annotate({"score": {"digit-00042": 0.5}}, by="id", default={"score": 0})
        >>> ds.where("score > 0").numbers
        array([42])
        """
        self._check_has_index("annotate")
        check_missing("null" if missing_values is None else missing_values)
        changes = changes_of(
            columns, by, missing_values, default, drop, rename, len(self), self._id_name()
        )
        ignores = ignores_unmatched(unmatched)
        self._change_columns(changes, progress, "annotating", missing_values or "null", ignores)
        return self

    @suggest_arguments
    def lift(
        self, features: Lift, *, missing_values: MissingLift = "error", progress: Progress = "auto"
    ) -> Dataset:
        """Adds lifted columns to the index, from features of the records, and returns this data
        set.

        All records are read once. Ids, counts and other columns are kept. The index is rewritten
        and replaced, as by `annotate`.

        Args:
            features: names of features with one value per record; or {name: value for records
                without the feature}, as for `recmap.open`. Fields of CSV and members of JSON lines
                are named as well; fields of a `Message` are lifted only when an index is built.
            missing_values: "null" lets records lack a feature without such a value: theirs is null.
            progress: see `recmap.open`.

        Raises:
            FeatureError: a record lacks the feature and there is no default, or its values have
                another type or number.
            ValueError: there is such a column already, or the data set is a view or a
                concatenation.

        >>> ds = recmap.open("data/digits", id="id", index=folder / "lifted.rmx")
        >>> len(ds.lift(["label"]).where("label == 3"))
        183
        """
        self._check_has_index("lift columns of")
        check_missing(missing_values)
        lifts = new_lifts_of(features)
        check_missing_is_used(missing_values, lifts)
        changes = [("lift", name, default, missing_values == "null") for name, default in lifts]
        self._change_columns(changes, progress, "lifting")
        return self

    def _check_has_index(self, action: str) -> None:
        if not self._whole:
            raise ValueError(f"a view has no index of its own: {action} the whole data set")

    def _change_columns(
        self,
        changes: list[tuple[Any, ...]],
        progress: Progress,
        action: str,
        missing_values: MissingLift = "null",
        ignores_unmatched: bool = False,
    ) -> None:
        with shown(progress, action) as call:
            findings, unmatched = self._annotate(
                changes, call, missing_values == "null", ignores_unmatched
            )
        self._use_handle(self._options.open_handle())
        self._columns_read = {}
        for finding in findings:
            warn_caller(f"{finding.path}: {finding.message}: {finding.advice}")
        if unmatched:
            warn_caller(f"{counted(unmatched, 'value')} ignored: no record has the key")

    def save(self, path: Path) -> None:
        """Writes which records this view has, and in which order, to a small file (NAME.rmv).

        ``recmap.open(path)`` opens the view again, and every ``recmap`` command takes the file in
        place of an index. It stays valid when shards are appended, and is refused for another or a
        changed data set. docs/formats/selection-format.md specifies it.

        Raises:
            InvalidError: this is a view of a concatenation, which has no index of its own; or the
                path does not end in ``.rmv``.

        >>> digits().where("label == 3").save(folder / "threes.rmv")
        >>> trusted = recmap.Reading(allow_absolute_paths=True)
        >>> len(recmap.open(folder / "threes.rmv", access=trusted))
        183
        """
        numbers = np.ascontiguousarray(self._selection.records().view(np.uint64))
        self._save_selection(os.fspath(path), numbers)

    @suggest_arguments
    def verify(
        self,
        *,
        index_only: bool = False,
        threads: int = 0,
        progress: Progress = "auto",
        memory_limit: int | str | None = None,
    ) -> dict[str, Any]:
        """Checks every byte: of the whole data set, or of the index and of a view's records.

        Args:
            index_only: read no shard.
            threads: 0 means one per core; for remote shards, at least four.
            progress: see `open`.
            memory_limit: an upper bound, in bytes or as "64MiB", on the memory for one compressed
                shard, and on that for the list of damage. More is an error. By default, a shard
                that takes more than indexing it may (docs/reference/reliability.md) counts as
                damaged.

        Returns:
            A dict: "records", the number of records in the index; "records_good", the number found
            good, or None with `index_only`; "damage", a list of all damage that the index does not
            list, each a dict with "path", "record", "offset", "length" and "reason". In a view,
            without `index_only`, they count its items, and "length" is None.

        Raises:
            CorruptIndexError: the index itself is damaged.
            StorageError: a remote store cannot be reached, refuses access, or sends what cannot be
                used. A missing object is damage.
            InvalidError: no credentials can be used.
        """
        with shown(progress, "verifying") as call:
            limit, threads = size_of(memory_limit), natural("threads", threads)
            report = json.loads(self._verify(index_only or not self._whole, threads, call, limit))
        if self._whole or index_only:
            return cast("dict[str, Any]", report)
        return verify_records(self, progress)

    @suggest_arguments
    def doctor(
        self,
        *,
        sample: int = 0,
        index_only: bool = False,
        threads: int = 0,
        progress: Progress = "auto",
    ) -> dict[str, Any]:
        """Says what is wrong with the data set before it costs a training run.

        Args:
            sample: how many records to read, from all parts; 0 means all. Pictures are decoded.
            index_only: read no record: examine only the index, the names of the shards, and the
                metadata of TFDS beside them.
            threads: 0 means one per core. The result does not depend on it.
            progress: see `open`.

        Returns:
            A dict as ``recmap doctor --json`` prints: "findings", a list of dicts with "check",
            "severity" ("error", "warning" or "note"), "shard" (a path or None), "record" (the
            position of the first record in this data set or view, or None), "message" and
            "advice", errors first; "records", how many there are; and "records_read".
            docs/guide/doctor.md describes the checks.

        Raises:
            CorruptIndexError: the index itself is damaged.
            StorageError: a remote store cannot be reached, or refuses access.

        >>> [finding["check"] for finding in digits().doctor()["findings"]]
        []
        """
        numbers = np.ascontiguousarray(self._selection.records().view(np.uint64))
        with shown(progress, "examining") as call:
            sample, threads = natural("sample", sample), natural("threads", threads)
            text = self._examine(numbers, sample, index_only, threads, call)
        diagnosis: dict[str, Any] = json.loads(text)
        for finding in diagnosis["findings"]:
            finding["advice"] = in_python(finding["advice"])
        return diagnosis

    def close(self) -> None:
        """Closes the data set. Views of records stay valid. Closing twice does nothing."""
        self._close()

    def __reduce__(self) -> tuple[Any, ...]:
        selection = None if self._whole else tuple(self._selection)
        identity = (self._fingerprint().hex(), _shards_digest(self))
        return _reopen, (_recmap.version, self._options, *identity, selection)

    def show(self, limit: int | Numbers = 20, features: Features | None = None) -> None:
        """Shows records with their features as a table: ``ds.show([3, 17])``.

        Prints plain text, and displays HTML in a notebook, with small pictures. Of pictures of any
        size (PNG, JPEG, GIF and WebP) it shows the size. Long values are cut, with the number of
        NaN in them, and what does not print is shown as escapes.

        Args:
            limit: how many records to show, the first ones; or which, as for `gather`.
            features: show these columns, as `parse` reads them: of records that are other messages,
                a `Message`. None: all features of a tf.Example.

        Raises:
            IndexError: a number is out of range.

        >>> digits()[5:7].select([0]).show()  # doctest: +ELLIPSIS
        <recmap.Dataset '...digits.rmx': 1 record of 1797>
        number  size       id           image                           label
        5       120 bytes  digit-00005  b'...  5
        """
        # Here, because most programs never show records.
        from .._display.tables import show_table

        show_table(self._table(limit, features))

    def _table(self, limit: int | Numbers, features: Features | None = None) -> Table:
        from .._columns.record_table import record_table

        parse = None if features is None else lambda item: self.parse([item], features)
        if isinstance(limit, (int, np.integer)):
            count = min(max(int(limit), 0), len(self))
            numbers = self._record_numbers(range(count)).tolist()
            return record_table(repr(self), numbers, self.__getitem__, len(self), parse)
        items: Any = range(len(self))[limit] if isinstance(limit, slice) else list(limit)
        numbers = self._record_numbers(items).tolist()
        chosen = None if parse is None else lambda row: parse(items[row])
        return record_table(repr(self), numbers, lambda row: self[items[row]], len(numbers), chosen)

    def _repr_html_(self) -> str:
        from .._display.tables import facts_html

        if self.closed:
            return facts_html(repr(self), {})
        return facts_html("recmap.Dataset", self._facts())

    def _facts(self) -> dict[str, object]:
        """What a notebook shows; the records are not read."""
        info = json.loads(self._info_json(False))
        total = "" if self._whole else f" of {info['records']}"
        columns = [f"{column['name']} ({column['type']})" for column in info["columns"][1:]]
        return {
            "records": f"{len(self)}{total}",
            "shards": info["shards"],
            "size": size_text(info["bytes"]),
            "index": self.index_path,
            "ids": self._id_name() or "none",
            "lifted columns": joined(columns, len(columns), 20) or "none",
            "element counts": joined(self.counts, len(self.counts), 20) or "none",
            "damaged": size_text(info["damaged_bytes"]),
        }

    def __repr__(self) -> str:
        if self.closed:
            return "<recmap.Dataset, closed>"
        total = "" if self._whole else f" of {self._record_count()}"
        return f"<recmap.Dataset {self.index_path!r}: {counted(len(self), 'record')}{total}>"


register_sequence(Dataset)


def _shards_digest(dataset: Dataset) -> str:
    """A hash of what the index says about its shards: names, sizes and numbers of records."""
    return hashlib.sha256(repr(dataset._shard_table()).encode()).hexdigest()


def _check_pickle(parts: tuple[Any, ...]) -> None:
    """Refuses what another version pickled: its options may mean something else."""
    theirs = parts[0] if isinstance(parts[0], str) else "another version"  # which named none
    if theirs.rpartition(".")[0] == _recmap.version.rpartition(".")[0]:
        return
    raise UnsupportedError(
        f"this data set was pickled by recmap {theirs}, but this is recmap {_recmap.version}",
        advice="Use one version in all processes, or open the data set again: only states are "
        "kept for later versions.",
    )


def _reopen(*parts: Any) -> Dataset:
    """The data set of what `Dataset.__reduce__` returned, perhaps in another version."""
    _check_pickle(parts)
    return _same_dataset(*parts[1:])


def _same_dataset(
    options: OpenOptions | ConcatOptions,
    fingerprint: str,
    shards_digest: str,
    selection: tuple[Any, ...] | None,
) -> Dataset:
    dataset = Dataset._open(options)
    if dataset.fingerprint != fingerprint:
        raise StaleIndexError(
            f"this is not the data set that was pickled: its fingerprint is {dataset.fingerprint}, "
            f"not {fingerprint}",
            options.path,
            advice="Open the data set again, and restart what reads it: workers, tasks or a query.",
        )
    # The index may be in a folder that others can write to, and can have any fingerprint. The
    # options allow all names if the caller named the shards, which `open` compared with the index.
    if _shards_digest(dataset) != shards_digest:
        raise StaleIndexError(
            "this is not the data set that was pickled: the index has other shards now",
            options.path,
            advice="If you trust everyone who can write to the index, open the data set again, and "
            "restart what reads it: workers, tasks or a query.",
        )
    return dataset if selection is None else dataset._select(Selection(*selection))


def check_dataset(dataset: object, for_join: str = "open") -> None:
    """Raises unless `dataset` is a data set or a view. `for_join` names the function that takes
    joins."""
    if not isinstance(dataset, Dataset):
        other = for_join if hasattr(dataset, "views") else "open"
        raise TypeError(f"dataset must be a recmap.Dataset, not {dataset!r}; see recmap.{other}")
