"""What an index knows about its records, without or from a sample of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from .._base.names import suggest_arguments
from .._base.numbers import natural
from .._base.warn import warn_caller
from .._example.features import Feature, features_of_schema
from .._example.tables import JsonLines
from .._options.options import Counted, Lifts
from .counts import Counts
from .lifted import Columns
from .sample import sample_of
from .selectable import Dataset as Selectable
from .text_features import text_features_of

__all__ = ["Dataset"]


class Dataset(Selectable):
    """The description of a data set or view: its columns, counts, shards and features."""

    @property
    def columns(self) -> Columns:
        """The lifted columns: a mapping of the arrays that were copied into the index."""
        return Columns(self)

    @property
    def counts(self) -> Counts:
        """How many elements each record has of the counted features: a mapping of int64 arrays.

        >>> recmap.index("data/digits", folder / "counted.rmx", count={"image": "uint8"})[-11:]
        'counted.rmx'
        >>> trusted = recmap.Reading(allow_absolute_paths=True)
        >>> recmap.open(folder / "counted.rmx", access=trusted).counts["image"].max()
        np.int64(64)
        """
        return Counts(self)

    @property
    def labels(self) -> Mapping[str, list[str]]:
        """The names of the classes of each label, from the metadata that `recmap.tfds.open` read:
        ``ds.labels["label"][3]`` is the name of class 3. Other data sets have none."""
        description = self._options.description
        return {} if description is None else {n: [*names] for n, names in description.labels}

    def _counted(self) -> Counted:
        """Names and dtypes of the counted features."""
        return tuple(self._counted_table())

    def _lifts(self) -> Lifts:
        """Names and defaults of the lifted columns, without "@length"."""
        return tuple((name, default) for name, _, default, _ in self._column_table()[1:])

    def _has_lifted_nulls(self) -> bool:
        """Returns true if a lifted column, which was read from the records, has nulls."""
        annotated = self._annotated_columns()
        return any(
            null_count and name not in annotated for name, _, _, null_count in self._column_table()
        )

    @property
    def info(self) -> dict[str, Any]:
        """What ``recmap info --json`` prints: records, shards, bytes, ids, columns, counts, ...

        In a view, "records" counts its items, "total_records" the records of the whole data set,
        "ordered" is true if its items are not in the order of their numbers, and "fingerprint"
        identifies the view. The other values describe the whole data set.

        >>> view = digits()[40:50]
        >>> view.info["records"], view.info["total_records"], view.info["ordered"]
        (10, 1797, False)
        """
        info = cast("dict[str, Any]", json.loads(self._info_json(False)))
        if self._whole:
            return info
        numbers = self.numbers
        is_set = bool((numbers[1:] > numbers[:-1]).all())
        own = {"records": len(self), "total_records": info["records"], "ordered": not is_set}
        return {**info, **own, "fingerprint": self.fingerprint}

    @property
    def shards(self) -> list[dict[str, Any]]:
        """The shards of the whole data set, as ``recmap info --json --shards`` prints them.

        >>> [shard["records"] for shard in digits().shards]
        [449, 449, 449, 450]
        """
        info = json.loads(self._info_json(True))
        return cast("list[dict[str, Any]]", info["shard_table"])

    def _formats(self) -> list[tuple[str, str]]:
        """(framing, compression) of each shard."""
        return [(shard["framing"], shard["compression"]) for shard in self.shards]

    def _record_kinds(self) -> str:
        formats = self._formats()
        is_text = formats and (formats[0][0] == "lines" or formats[0][0].startswith("csv"))
        if is_text:
            return "a row with the fields of the header nor a JSON object"
        return "a tf.Example nor a tf.SequenceExample"

    @suggest_arguments
    def schema(self, sample: int | None = 1000) -> dict[str, dict[str, Any]]:
        """The features found in the records, as ``recmap schema --json`` prints them.

        Args:
            sample: how many records to read: the first, the last, and a random one of each of equal
                parts between them, always the same ones. None: all records.

        Warns if some of these records are neither a tf.Example nor a tf.SequenceExample, or in
        files of text neither a row with the fields of the header nor a JSON object.

        >>> digits().schema()["label"]["kind"]
        'int64'
        """
        count = len(self)
        wanted = count if sample is None else natural("sample", sample)
        items = sample_of(count, count if wanted >= 2**32 else wanted)
        text, other_count = self._schema(self._selection.records_at(items))
        if other_count:
            warn_caller(
                f"{other_count} of {len(items)} records are neither {self._record_kinds()}; the "
                "schema does not describe them"
            )
        schema: dict[str, dict[str, Any]] = json.loads(text)
        self._feature_names.learn(schema, len(items))
        return schema

    @suggest_arguments
    def features(
        self, sample: int | None = 1000, *, feature_lists: bool | None = None
    ) -> dict[str, Feature]:
        """The features found in the records, ready for `parse` or a loader: {name: feature}.

        A feature that every record read has with the same number of values is a `FixedLen`; others
        are a `VarLen`. One whose values are JPEG, PNG or WebP pictures is an `Image`, without a
        size: each picture keeps its own, turned upright as its EXIF data says. ``recmap schema
        --features python`` prints the same as code, and says how many pictures that turns.

        Args:
            sample: see `schema`. Use None to be sure that the result fits all records.
            feature_lists: True: the feature lists of tf.SequenceExample instead of the features of
                the context, a `FixedLenSequence` or a `VarLen` each. False: the features of the
                context. None: the same, with a warning if the records have feature lists.

        Warns about features that have no values, or values of several kinds: they are left out.

        Of CSV files with a header, the result is a `Csv` of all fields, and of JSON lines a
        `JsonLines` of all members, by their paths.

        A data set of `recmap.tfds.open` reads no record: its metadata describes the features.

        >>> spec = digits().features()["label"]
        >>> spec == recmap.FixedLen((), "int64")
        True
        """
        description = self._options.description
        if description is not None and not feature_lists:
            return dict(description.features)
        fields = None if feature_lists else text_features_of(self, sample)
        if fields is not None:  # a Csv, not a dict, because it also says how rows are written
            return cast(dict[str, Feature], fields)
        schema = self.schema(sample)
        features, omitted = features_of_schema(schema, bool(feature_lists))
        lists = [name for name, members in schema.items() if "list" in members]
        if feature_lists is None and lists:
            warn_caller(
                f"these feature lists are left out: {', '.join(map(repr, lists))}. "
                "features(feature_lists=True) returns them, for feature_lists of a loader and of "
                "parse_sequence; features(feature_lists=False) returns the context without a "
                "warning"
            )
        if omitted:
            warn_caller(
                f"these features have no values, or values of several kinds, or a NUL in their "
                f"name, and are left out: {', '.join(map(repr, omitted))}"
            )
        if features and self._formats()[0][0] == "lines":
            return cast(dict[str, Feature], JsonLines(features))
        return features
