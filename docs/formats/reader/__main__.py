"""Prints an index, a selection or a state, or writes a record: see README.md."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from reader import FormatError
from reader.index import Index
from reader.selection import Selection
from reader.state import read_state


def main(name, number=None):
    if not name.endswith(".rmx"):
        data = Path(name).read_bytes()
        print(*Selection(data).numbers if name.endswith(".rmv") else [read_state(data)], sep="\n")
    elif number is None:
        index = Index(name)
        print(index.manifest, *index.shards, sep="\n")
    else:
        sys.stdout.buffer.write(Index(name).record(int(number)))


try:
    main(*sys.argv[1:])
except (FormatError, IndexError, OSError) as error:
    sys.exit(f"reader: {' '.join(sys.argv[1:])}: {error}")
