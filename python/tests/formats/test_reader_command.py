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
    manifest, shard = run(folder / "made.rmx").stdout.decode().splitlines()
    assert "record_count=30" in manifest and "name='n'" in manifest
    assert "made.jsonl" in shard and "framing='lines'" in shard


def test_a_record(folder):
    assert run(folder / "made.rmx", "7").stdout == b'{"id": "r7", "n": 49}'
    for arguments in (("made.rmx", "30"), ("made.jsonl",), ("missing.rmx",)):
        result = run(folder / arguments[0], *arguments[1:])
        assert result.returncode == 1 and result.stderr.startswith(b"reader: ")


def test_a_selection(folder):
    lines = run(folder / "made.rmv").stdout.decode().splitlines()
    assert lines == ["3", "12", "21"]


def test_a_state(tmp_path):
    (tmp_path / "state.json").write_text(read_cases("states")["shuffled"]["json"])
    text = run(tmp_path / "state.json").stdout.decode()
    assert "epoch=0, position=640" in text and '"kind":"shuffled"' in text
