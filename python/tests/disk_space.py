"""Whether the disk of temporary files has room for a cache, which leaves a tenth of a disk free."""

import os
import tempfile

TEST_SIZE = 256 << 20  # more than the caches of one test

NO_CACHE_SPACE = "the disk has too little room for a cache, which leaves a tenth of it free"


def has_cache_space():
    disk = os.statvfs(tempfile.gettempdir())
    return disk.f_bavail * disk.f_frsize > disk.f_blocks * disk.f_frsize // 10 + TEST_SIZE
