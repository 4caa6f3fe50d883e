"""A fork while another thread imports: the child can import the same, and the parent goes on."""

import subprocess
import sys

import pytest
import recmap
from conftest import DIGITS

# The thread is within an import when the main thread forks: a module that recmap imports takes a
# while to load, and says so. SIGALRM ends a child that waits for ever.
PROGRAM = """
import importlib.abc, os, signal, sys, threading, time
import recmap
slow, use, late = sys.argv[1:4]
if late:
    __import__(late)
begun = threading.Event()

class Slow(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == slow and not begun.is_set():
            begun.set()
            time.sleep(0.3)
            if late == "logging":  # what a framework does
                sys.modules[late].getLogger("import")

sys.meta_path.insert(0, Slow())
thread = threading.Thread(target=exec, args=(use, globals()))
thread.start()
begun.wait()
child = os.fork()
if not child:
    signal.alarm(60)
    exec(use)
    os._exit(7)
signal.alarm(60)
status = os.waitpid(child, 0)[1]
thread.join()
exec(use)
sys.exit(os.waitstatus_to_exitcode(status))
"""

OPEN = f"bytes(recmap.open({str(DIGITS)!r}, index={{index!r}}, progress=None)[3])"
USES = {
    "open": ("numpy", OPEN),
    "open, at the first module": ("recmap._index.open", OPEN),
    "in the middle of NumPy": ("numpy.linalg", OPEN),
    "Loader": ("recmap._loader.pipeline", "recmap.Loader(range(3), 1, transform=int)"),
    "a class": ("recmap._order", "recmap.Shuffled(7)"),
    "a module": ("recmap._display.pictures", "recmap.metrics"),
    "version": ("recmap._recmap", "recmap.__version__"),
}


@pytest.mark.parametrize("late", ["", "logging", "concurrent.futures.thread"])
@pytest.mark.parametrize("name", USES)
def test_a_child_of_a_fork_during_an_import(tmp_path, name, late):
    slow, use = USES[name]
    if name == "Loader":
        use = f"recmap.Loader({OPEN[6:-4]}, 256, transform=id)"
    index = tmp_path / "digits.rmx"
    recmap.index(DIGITS, index, progress=None)
    use = use.format(index=str(index))
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM, slow, use, late]
    said = subprocess.run(command, capture_output=True, text=True)
    assert (said.returncode, said.stdout, said.stderr) == (7, "", "")
