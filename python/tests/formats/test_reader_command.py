"""python3 docs/formats/reader, which runs without recmap."""

import json
import re
import subprocess
import sys

import pytest
import recmap
from reader_helpers import READER, read_cases


def run(*arguments):
    """What the reader prints, in an interpreter that does not find recmap."""
    command = [sys.executable, "-P", READER, *arguments]
    return subprocess.run(command, capture_output=True, env={"PATH": ""}, check=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    lines = "".join(f'{{"id": "r{i}", "n": {i * i}}}\n' for i in range(30))
    (folder / "made.jsonl").write_text(lines)
    options = {"framing": "lines", "id": "id", "lift": ["n"], "index": folder / "made.rmx"}
    with recmap.open(folder / "made.jsonl", **options) as ds:
        ds.select(range(3, 30, 9)).save(folder / "made.rmv")
    return folder


def test_the_programs_of_the_page(folder, monkeypatch):
    (folder / "train.tfrecord").write_bytes(b"")
    with recmap.Writer(folder / "train.tfrecord") as writer:
        for i in range(50):
            features = {"label": i % 3, "id": f"image-{i}", "tokens": list(range(i))}
            writer.write(recmap.encode_example(features))
    options = {"id": "id", "lift": ["label"], "count": ["tokens"], "index": folder / "train.rmx"}
    ds = recmap.open(folder / "train.tfrecord", **options)
    labels = ds.columns["label"].tolist()
    order = recmap.Grouped(labels, 5)
    state = recmap.Loader(ds, order=order).state_dict()
    (folder / "state.json").write_text(json.dumps(state))
    monkeypatch.chdir(folder)
    names = {"labels": labels}
    for block in re.findall("```python\n(.*?)```", (READER / "README.md").read_text(), re.S):
        exec(
            re.sub(r"^(index|order)[.](.*?)( {2,}#.*)?$", r"last = \g<0>", block, flags=re.M), names
        )
    assert names["last"] == order.at(0, 0)


def test_an_index(folder):
    lines = run(folder / "made.rmx").stdout.decode().splitlines()
    assert lines[1:5] == ["records: 30", "ids: 30 of id", "shards: 1", lines[4]]
    assert "made.jsonl: 30 records from 0 on, lines" in lines[4]
    assert lines[5:9] == ["lifted column n: 30", "  0", "  1", "  4"] and "damage: 0" in lines


def test_a_record(folder):
    assert run(folder / "made.rmx", "7").stdout == b'{"id": "r7", "n": 49}'
    for arguments in (("made.rmx", "30"), ("made.jsonl",), ("missing.rmx",)):
        result = run(folder / arguments[0], *arguments[1:])
        assert result.returncode == 1 and result.stderr.startswith(b"reader: ")


def test_a_selection(folder):
    lines = run(folder / "made.rmv").stdout.decode().splitlines()
    assert lines == ["index: made.rmx, 30 records", "records: 3", "  3", "  12", "  21"]


def test_a_state(tmp_path):
    (tmp_path / "state.json").write_text(read_cases("states")["shuffled"]["json"])
    lines = run(tmp_path / "state.json").stdout.decode().splitlines()
    order = recmap.Shuffled(1797, 7)
    assert lines[1] == "epoch 0, position 640 of 1797"
    assert lines[3:7] == ["next: 1157", *(f"  {n}" for n in order.at(0, range(640, 643)))]
