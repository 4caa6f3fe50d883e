"""Public names and arguments, which programs rely on."""

import subprocess
import sys

from conftest import ROOT


def test_names_arguments_and_members_are_those_listed():
    command = [sys.executable, "-B", ROOT / "tests/interface/check_python"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
