"""A local object store for tests of the command."""

import os
import sys
import unittest

from support import ROOT

sys.path.insert(0, os.path.join(ROOT, "python", "tests"))

from disk_space import NO_CACHE_SPACE, has_cache_space
from object_server import ObjectServer, fail_with

__all__ = ["fail_with", "needs_cache_space", "start_store"]

needs_cache_space = unittest.skipUnless(has_cache_space(), NO_CACHE_SPACE)


def start_store(test):
    """A server of the test's folder "served", without the user's settings of stores and proxies."""
    for name in list(os.environ):
        if name.startswith("AWS_") or name.lower().endswith("_proxy"):
            del os.environ[name]
    server = ObjectServer(test.path("served"))
    server.__enter__()
    test.addCleanup(server.__exit__)
    return server
