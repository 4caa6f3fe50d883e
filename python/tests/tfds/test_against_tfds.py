"""Every connector of TFDS, and random nested features, value by value against TFDS."""

import importlib.util
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import needs_images

PROGRAM = Path(__file__).with_name("against_tfds.py")
ROUNDS = 5 if os.environ.get("RECMAP_TEST_LONG") else 1


@needs_images
@pytest.mark.parametrize("round", range(ROUNDS))
def test_values_are_those_of_tfds(round, tmp_path):
    for package in ("tensorflow", "tensorflow_datasets"):
        if not importlib.util.find_spec(package):
            pytest.skip(f"no {package} here")
    seed = random.SystemRandom().randrange(1 << 30)
    print("seed", seed)
    made = subprocess.run(
        [sys.executable, PROGRAM, tmp_path, str(seed)], capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stderr[-4000:]
    assert int(made.stdout.splitlines()[-1].split()[0]) > 5000
