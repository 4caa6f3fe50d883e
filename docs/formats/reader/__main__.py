"""Prints what an index, a selection or a state contains, or writes a record: see README.md."""

import argparse
import sys
from itertools import islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from reader.description import order_of
from reader.errors import FormatError
from reader.index import Index
from reader.selection import Selection
from reader.state import read_state

SHOWN = 20  # items of a list


def text_of(data):
    return data.decode("utf-8", "backslashreplace") if isinstance(data, bytes) else data


def print_list(title, lines, count):
    print(f"{title}: {count}")
    for line in islice(lines, SHOWN):
        print(f"  {line}")
    if count > SHOWN:
        print("  ...")


def print_index(index):
    manifest = index.manifest
    print(f"format {manifest.format_version}, fingerprint {manifest.fingerprint[::-1].hex()}")
    print(f"records: {len(index)}")
    if manifest.has_ids:
        print(f"ids: {manifest.id_count} of {manifest.id_name or 'the caller'}")
    shards = (
        f"{text_of(shard.path)}: {shard.record_count} records from {shard.first} on, "
        f"{shard.framing}, {shard.file_size} bytes{' compressed' * bool(shard.compression)}"
        for shard in index.shards
    )
    print_list("shards", shards, len(index.shards))
    for column in manifest.columns:
        values = map(text_of, index.column(column.name))
        print_list(f"lifted column {column.name}", values, len(index))
    for feature in manifest.counted_features:
        print_list(f"element counts of {feature.name}", index.counts(feature.name), len(index))
    damages = (
        f"{text_of(shard.path)}: byte {offset}: {length} bytes: {text_of(reason)}"
        for shard in index.shards
        for offset, length, reason in shard.damages
    )
    print_list("damage", damages, manifest.damage_count)


def print_selection(data):
    selection = Selection(data)
    print(f"index: {text_of(selection.path)}, {selection.record_count} records")
    print_list("records", selection.numbers(), selection.count)


def print_state(text):
    state = read_state(text)
    print(f"fingerprint {state.fingerprint.hex()}, {state.record_count} records")
    print(f"epoch {state.epoch}, position {state.position} of {state.position_count}")
    print(f"order: {state.order}")
    try:
        order = order_of(state.order)
    except FormatError as error:  # arrays, of which the description has digests
        return print(f"next: {error}")
    left = range(state.position, order.count)
    return print_list("next", (order.at(state.epoch, i) for i in left), len(left))


def run(arguments):
    name = arguments.name
    if name.endswith(".rmx"):
        index = Index(name, arguments.allow_absolute)
        if arguments.record is None:
            return print_index(index)
        return sys.stdout.buffer.write(index.record(arguments.record))
    with open(name, "rb") as file:
        data = file.read()
    return print_selection(data) if name.endswith(".rmv") else print_state(data)


def main():
    parser = argparse.ArgumentParser(prog="reader", description=__doc__.split(":")[0] + ".")
    parser.add_argument("name", metavar="NAME", help="an index, a selection (.rmv) or a state")
    parser.add_argument("record", metavar="NUMBER", nargs="?", type=int, help="of a record")
    parser.add_argument("--allow-absolute", action="store_true", help="allow shards anywhere")
    arguments = parser.parse_args()
    try:
        run(arguments)
    except (FormatError, IndexError, OSError) as error:
        sys.exit(f"reader: {arguments.name}: {error}")


if __name__ == "__main__":
    main()
