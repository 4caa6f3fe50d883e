"""Progress of long operations."""

import subprocess
import sys

import pytest
import recmap


def test_progress_callable_is_called(copied_digits):
    calls = []
    recmap.index(copied_digits, progress=lambda *call: calls.append(call))
    for done, total, records, path in calls:
        assert 0 <= done <= total and records <= 1797 and isinstance(path, str)


def test_nothing_is_printed_without_a_terminal(copied_digits):
    run = subprocess.run(
        [sys.executable, "-c", "import recmap, sys; recmap.open(sys.argv[1])", copied_digits],
        capture_output=True,
        check=True,
    )
    assert run.stdout == run.stderr == b""


def test_bar_on_a_terminal(capsys, monkeypatch):
    from recmap._display.progress import shown

    class Terminal:
        text = ""

        def isatty(self):
            return True

        def write(self, text):
            self.text += text

        def flush(self):
            pass

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with shown("auto", "indexing") as call:
        call._drawn -= 1
        call(25, 100, 3, "x")
    assert "indexing [#####..............." in terminal.text and " 25%" in terminal.text
    assert terminal.text.endswith("\r")


def test_bar_in_a_notebook(monkeypatch):
    import types

    from recmap._display import progress

    shell = type("ZMQInteractiveShell", (), {})()
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    pytest.importorskip("tqdm")
    with progress.shown("auto", "indexing") as call:
        assert isinstance(call, progress._Notebook)
        call(1, 2, 3, "x")
