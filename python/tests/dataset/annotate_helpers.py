"""Used by the tests of annotated columns: a data set of 100 records, and its columns."""

import numpy as np
import recmap
from conftest import write

COUNT = 100
SCORES = np.arange(COUNT) / 8
IDS = [f"r{i}" for i in range(COUNT)]


def labelled(folder):
    """The data set, with a lifted column and ids."""
    records = [recmap.encode_example({"label": i % 5, "id": f"r{i}"}) for i in range(COUNT)]
    write(folder, records)
    return recmap.open(folder, lift=["label"], id="id", index=folder / "a.rmx")


def column(ds, name="score"):
    """The column, as this data set and one that is opened now have it."""
    values = ds.columns[name]
    with recmap.open(ds.index_path) as again:
        assert np.array_equal(again.columns[name], values)
    return values.tolist()
