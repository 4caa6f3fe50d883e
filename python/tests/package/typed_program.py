"""What a type checker says of a user's program. mypy checks it with the package: tests/run."""

from typing import Any, assert_type

import recmap

ds = recmap.open("x")
features = {"a": recmap.FixedLen((), "int64")}


def count(batch: recmap.ColumnBatch) -> int:
    return batch.row_count


assert_type(recmap.Loader(ds, 5).peek(), recmap.RecordBatch | None)
Pair = tuple[recmap.ColumnBatch, recmap.ColumnBatch]
assert_type(recmap.Loader(ds, 5, feature_lists=features).peek(), Pair | None)
for number in recmap.Loader(ds, 5, features=features, transform=count):
    assert_type(number, int)
with recmap.Loader(ds, 5, features=features, shuffle=True, rank="auto") as loader:
    for columns in loader:
        assert_type(columns, recmap.ColumnBatch)
for tensors in recmap.torch.Loader(ds, 5, features=features, pin_memory=True):
    assert_type(tensors, dict[str, Any])
for records in recmap.torch.Loader(ds, 5, **recmap.torch.ranks()):
    assert_type(records, list[bytes])
plain = recmap.Loader(ds, 5)
for records in recmap.torch.IterableDataset(plain):
    assert_type(records, list[bytes])
for tensors in recmap.torch.IterableDataset(recmap.Loader(ds, 5, features=features)):
    assert_type(tensors, dict[str, Any])
pairs = recmap.Loader(ds, 5, features=features, feature_lists=features)
for pair in recmap.torch.IterableDataset(pairs):
    assert_type(pair, tuple[dict[str, Any], dict[str, Any]])
counts = recmap.Loader(ds, 5, features=features, transform=count)
for number in recmap.torch.IterableDataset(counts):
    assert_type(number, int)
assert_type(recmap.torch.tensors(ds.parse([0], features)), dict[str, Any])
recmap.Loader(ds, 5, shufle=True)  # type: ignore[call-overload]
recmap.Loader(ds, 5, last="left")  # type: ignore[call-overload]
recmap.Lodaer(ds, 5)  # type: ignore[attr-defined]
recmap.torch.Lodaer(ds, 5)  # type: ignore[attr-defined]
assert_type(recmap.__version__, str)
