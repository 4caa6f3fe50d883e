"""Used by the tests of PyTorch: features of the digits, and what loops over batches returned."""

import pytest
import recmap

pytest.importorskip("torch")

FEATURES = {
    "image": recmap.FixedLen(64, "uint8", raw=True),
    "label": recmap.FixedLen((), "int64"),
    "id": recmap.FixedLen((), bytes),
}
LABEL = {"label": recmap.FixedLen((), "int64")}


def stateful(*arguments, **more):
    module = pytest.importorskip("torchdata.stateful_dataloader")
    return module.StatefulDataLoader(*arguments, **more)


def of(batches):
    return [batch["n"].tolist() for batch in batches]


def flat(lists):
    return [item for some in lists for item in some]
