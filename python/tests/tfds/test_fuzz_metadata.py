"""Any bytes and any JSON as metadata: an error of recmap's, or features.

RECMAP_TEST_LONG=1 tries a hundred times as many."""

import copy
import json
import os
import random

import recmap
from prepared_set import CORE, group, info_of, label, sequence, steps, tensor
from recmap._example.features import parser_of
from recmap._tfds.connectors import fields_of
from recmap._tfds.episodes import steps_of
from recmap._tfds.metadata import info_of as parsed_info
from recmap._tfds.specs import specs_of

ROUNDS = 100_000 if os.environ.get("RECMAP_TEST_LONG") else 1_000

FEATURES = group(
    image={
        "pythonClassName": f"{CORE}.image_feature.Image",
        "image": {"shape": {"dimensions": ["-1", "-1", "3"]}, "dtype": "uint8"},
    },
    objects=sequence(group(bbox={"pythonClassName": "BBox", "boundingBox": {}}, label=label(3))),
    zipped=tensor("uint64", (2, 3), encoding="zlib"),
    free=tensor("float32", (-1, -1), encoding="bytes", optional=True),
    pair={"type": "Translation", "content": {"languages": ["en", "fr"]}},
    deep=sequence(sequence(tensor("string"))),
    steps=steps(action=tensor("float64", (7,)), text={"pythonClassName": "Text", "text": {}}),
)
INFO = info_of("made", {"train": [[b""] * 3, [b""]], "test": [[b""]]})
ODD = [None, True, -1, 0, 3, 1 << 70, 1.5, "", "-1", "x", "../x", "a\0", [], {}, [[]], {"": {}}]


def places(tree):
    """All containers in a tree, with their keys."""
    if isinstance(tree, dict | list):
        for key in tree if isinstance(tree, dict) else range(len(tree)):
            yield tree, key
            yield from places(tree[key])


def mutate(chance, tree):
    """Replaces, removes, moves or doubles some parts."""
    tree = copy.deepcopy(tree)
    for _ in range(chance.randrange(1, 5)):
        found = list(places(tree))
        if not found:
            break
        (here, key), (there, other) = chance.choice(found), chance.choice(found)
        kind = chance.randrange(4)
        if kind == 0:
            here[key] = copy.deepcopy(chance.choice(ODD))
        elif kind == 1:
            del here[key]
        elif kind == 2:
            here[key] = copy.deepcopy(there[other]) if len(json.dumps(tree)) < 30_000 else 7
        elif isinstance(here, dict):
            here[chance.choice(["x", "a/b", "", "steps", "shape"])] = copy.deepcopy(here[key])
    return tree


def spoil(chance, text):
    """Bytes that are not JSON, most of the time."""
    data = bytearray(text)
    for _ in range(chance.randrange(1, 6)):
        at = chance.randrange(len(data) + 1)
        data[at : at + chance.randrange(3)] = chance.randbytes(chance.randrange(3))
    return bytes(data)


def read_features(text):
    fields = fields_of(text, "features.json")
    specs = specs_of(fields)
    assert {field.path for field in fields} <= {*specs.features, *specs.omitted}
    windows = [dict(steps.window_features) for steps in steps_of(fields, specs.features)]
    for features in (specs.features, *windows):
        assert repr(features)
        parser_of(features)


def test_any_metadata_gives_features_or_an_error():
    seed = random.SystemRandom().randrange(1 << 30)
    print("seed", seed)
    chance = random.Random(seed)
    read = 0
    for _ in range(ROUNDS):
        for tree, parse in ((FEATURES, read_features), (INFO, lambda t: parsed_info(t, "info"))):
            text = json.dumps(mutate(chance, tree)).encode()
            for given in (text, spoil(chance, text)):
                try:
                    parse(given)
                    read += 1
                except recmap.Error:
                    pass
    assert ROUNDS // 10 < read < ROUNDS * 4


def test_the_tree_itself_is_read():
    read_features(json.dumps(FEATURES).encode())
    assert list(parsed_info(json.dumps(INFO).encode(), "info").splits) == ["train", "test"]
