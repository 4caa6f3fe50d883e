"""The command `recmap`: the program that the package carries."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Becomes the carried program, with the arguments of this process."""
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "recmap")
    os.execv(program, ["recmap", *sys.argv[1:]])
