"""Dataset.doctor() finds nothing wrong with what TFDS writes: only notes on lists of any length."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import needs_images

PROGRAM = Path(__file__).with_name("sound_sets.py")
SETS = 20 if os.environ.get("RECMAP_TEST_LONG") else 2

# Video, objects, audio and so on have as many values as a record happens to have.
JUSTIFIED = {("feature_lengths", "note")}


@needs_images
def test_sets_of_tfds_are_sound(tmp_path):
    for package in ("tensorflow", "tensorflow_datasets"):
        if not importlib.util.find_spec(package):
            pytest.skip(f"no {package} here")
    made = subprocess.run(
        [sys.executable, PROGRAM, tmp_path, str(SETS)], capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stderr[-4000:]
    sets = json.loads(made.stdout.splitlines()[-1])
    assert len(sets) == SETS
    for findings in sets:
        assert {(f["check"], f["severity"]) for f in findings} <= JUSTIFIED, findings
