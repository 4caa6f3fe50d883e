"""The command `recmap`: runs the program that is part of the package."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Replaces this process by the program, with the same arguments."""
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "recmap")
    os.execv(program, ["recmap", *sys.argv[1:]])
