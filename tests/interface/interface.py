"""Compares what programs rely on with a committed list.

A list has one fact on each line. So a line that disappears breaks programs, and a line that appears
does not. A line that ends with ", may change" says what programs are told not to rely on.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MAY_CHANGE = ", may change"


def is_held(line):
    return not line.endswith(MAY_CHANGE)


def explain(name, gone, new):
    """Says what has changed, and what to do about it."""
    broken, added = [*filter(is_held, gone)], [*filter(is_held, new)]
    print(f"tests/interface/{name}.txt: the interface is not the listed one")
    if broken:
        print(
            "\nGone or changed. Programs rely on this: restore it, with a warning if it has a new"
        )
        print("name, or make a new major version; see docs/reference/compatibility.md.", end="")
        print("", *broken, sep="\n  - ")
    if added:
        print("\nNew. From its release on it is kept.", *added, sep="\n  + ")
    if len(broken) + len(added) < len(gone) + len(new):
        others = [line for line in (*gone, *new) if not is_held(line)]
        print("\nThis may change, as docs/reference/conventions.md says.", *others, sep="\n    ")
    print(f"\nIf all of it is meant, run tests/interface/check_{name} --update, and add it to the")
    print("section Unreleased of CHANGELOG.md.")


def compare(name, facts, skipped=()):
    """Exits with 0 if the facts are those of the list NAME.txt, or become it (--update). Lines that
    begin with one of `skipped` are not compared."""
    path = ROOT / "tests" / "interface" / f"{name}.txt"
    facts = sorted(set(facts))
    if "--update" in sys.argv:
        assert not skipped, f"cannot update without {skipped}"
        path.write_text("".join(f"{fact}\n" for fact in facts))
    listed = path.read_text().splitlines()
    listed = [line for line in listed if not line.startswith(tuple(skipped))]
    gone, new = sorted(set(listed) - set(facts)), sorted(set(facts) - set(listed))
    if gone or new:
        explain(name, gone, new)
        sys.exit(1)
    print(f"{len(facts)} facts are as listed")
