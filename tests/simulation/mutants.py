"""Reads tests/simulation/mutants.txt, the list of faults that the simulator must find."""

import pathlib
from dataclasses import dataclass, field

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent


@dataclass
class Change:
    path: str
    old: str = ""
    new: str = ""


@dataclass
class Mutant:
    name: str
    sentence: str = ""
    changes: list[Change] = field(default_factory=list)


def read_mutants():
    mutants, part = [], ""
    for line in (HERE / "mutants.txt").read_text().splitlines(keepends=True):
        if line.startswith("== "):
            mutants.append(Mutant(line[3:].strip()))
            part = "sentence"
        elif not mutants:
            continue
        elif line.startswith("--- "):
            mutants[-1].changes.append(Change(line[4:].strip()))
            part = "old"
        elif line == "+++\n":
            part = "new"
        elif part == "sentence":
            mutants[-1].sentence += line
        else:
            change = mutants[-1].changes[-1]
            setattr(change, part, getattr(change, part) + line)
    for mutant in mutants:
        for change in mutant.changes:
            change.old, change.new = change.old.rstrip("\n"), change.new.rstrip("\n")
    return mutants


def apply(mutant):
    """The text of each file of the library that the mutant changes, by path."""
    texts = {}
    for change in mutant.changes:
        text = texts.get(change.path) or (SOURCE / change.path).read_text()
        if text.count(change.old) != 1:
            raise ValueError(f"{mutant.name}: not once in {change.path}: {change.old!r}")
        texts[change.path] = text.replace(change.old, change.new)
    return texts
