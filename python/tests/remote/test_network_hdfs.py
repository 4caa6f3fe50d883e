"""HDFS with a fault proxy before each node: random faults, several at a time.

Each schedule has a seed, which is the name of its test. The oracle is the same data set, read
locally. RECMAP_TEST_LONG=1 runs many more schedules.
"""

import random
import shutil

import pytest
import recmap
from conftest import DIGITS
from fault_proxy import FaultProxy
from hdfs_server import HdfsServer
from test_network_schedules import CALLS, COUNT, PASSING, check_cache, schedule

pytestmark = pytest.mark.usefixtures("watchdog", "no_environment")

SOURCE = "webhdfs://cluster/data/digits-*.tfrecord"


@pytest.fixture
def proxies(tmp_path):
    """The proxies before the NameNode and before the DataNode that it redirects to."""
    shutil.copytree(DIGITS, tmp_path / "hdfs" / "data")
    with (
        HdfsServer(tmp_path / "hdfs") as hdfs,
        FaultProxy(f"http://127.0.0.1:{hdfs.namenode.server_port}") as before_namenode,
        FaultProxy(f"http://127.0.0.1:{hdfs.datanode.server_port}") as before_datanode,
    ):
        hdfs.namenode.datanode = before_datanode
        yield before_namenode, before_datanode


def opened(proxies, seed, folder):
    """Every other seed reads through a cache."""
    cache = {"cache": folder / "cache"} if seed % 2 else {}
    options = {"namenodes": f"127.0.0.1:{proxies[0].server_port}", "timeout": 100}
    try:
        return recmap.open(
            SOURCE,
            index=folder / "hdfs.rmx",
            id="id",
            allow_urls=True,
            storage_options=options,
            progress=None,
            **cache,
        )
    except recmap.UnsupportedError:
        pytest.skip("this build of recmap has no support for URLs")


@pytest.mark.parametrize("seed", range(COUNT))
def test_faults_before_both_nodes(proxies, local, tmp_path, scratch, seed):
    source = random.Random(seed)
    opened(proxies, seed, tmp_path).close()
    for i, proxy in enumerate(proxies):
        schedule(proxy, random.Random(-1 - 2 * seed - i), PASSING, 0.2)
    with opened(proxies, seed, tmp_path) as ds:
        for _ in range(6):
            call, own = source.choice(CALLS), source.randrange(1 << 30)
            assert call(ds, random.Random(own)) == call(local, random.Random(own)), call.__name__
    check_cache(tmp_path)


@pytest.mark.parametrize("seed", range(COUNT))
def test_indexing_through_faults(proxies, local, tmp_path, scratch, seed):
    """Lists and whole files, from both nodes."""
    for i, proxy in enumerate(proxies):
        schedule(proxy, random.Random(-1 - 2 * seed - i), PASSING, 0.2)
    with opened(proxies, seed, tmp_path) as ds:
        assert ds.fingerprint == local.fingerprint
        assert ds.find("digit-01234") == 1234
