"""The command `recmap`: runs the program that is part of the package."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Replaces this process by the program, with the same arguments. Only tables are imported here,
    because Parquet is read by pyarrow."""
    if sys.argv[1:2] == ["import"]:
        from ._index.importing import import_tables  # on first use: the others need no NumPy

        status = import_tables(sys.argv[1:])
        if status is not None:
            sys.exit(status)
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "recmap")
    os.execv(program, ["recmap", *sys.argv[1:]])
