"""Shards on real web servers, on the loopback interface: nginx and rclone. Each test
starts its server, and is skipped if that is not installed. The oracle is a local data set."""

import pytest
import recmap
from conftest import DIGITS
from object_server import gathered, records_of
from real_servers import NAMES, skip_without_urls, started_nginx, started_rclone


@pytest.fixture(autouse=True)
def no_credentials(no_environment, monkeypatch):
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)


@pytest.fixture(scope="module")
def urls(tmp_path_factory):
    """Skips the tests if the build reads no URLs."""
    skip_without_urls(tmp_path_factory.mktemp("urls"))


@pytest.fixture(scope="module")
def nginx(tmp_path_factory, urls):
    """The addresses of nginx: over HTTP and HTTPS, and the file of its authority."""
    with started_nginx(tmp_path_factory.mktemp("nginx"), DIGITS) as addresses:
        yield addresses


def opened(base, folder, **options):
    names = [f"{base}/{name}" for name in NAMES]
    return recmap.open(
        names,
        id="id",
        index=folder / "served.rmx",
        storage=recmap.Storage(options={"timeout": 10, **options}),
    )


def batches(ds):
    with recmap.Loader(ds, 64, shuffle=True, seed=5, epochs=1, threads=2) as loader:
        return [[bytes(record) for record in batch] for batch in loader]


def check_reads(ds, local):
    """Everything that reads gives what the files give."""
    assert records_of(ds) == records_of(local)
    numbers = list(range(1700, 0, -97))
    assert gathered(ds, numbers) == gathered(local, numbers)
    assert ds.find("digit-01234") == 1234
    assert ds.verify()["damage"] == []
    assert batches(ds) == batches(local)


# ---- nginx.


def test_nginx_serves_shards(nginx, local, tmp_path):
    check_reads(opened(f"{nginx[0]}/train", tmp_path), local)


def test_nginx_with_an_authority_of_its_own(nginx, local, tmp_path):
    _, address, authority = nginx
    with pytest.raises(recmap.StorageError, match="certificate"):
        opened(f"{address}/train", tmp_path)
    check_reads(opened(f"{address}/train", tmp_path, ca_bundle=authority), local)


def test_redirects_of_nginx(nginx, local, tmp_path):
    check_reads(opened(f"{nginx[0]}/moved", tmp_path), local)
    (tmp_path / "loop").mkdir()
    with pytest.raises(recmap.StorageError, match="redirects"):
        opened(f"{nginx[0]}/loop", tmp_path / "loop")


def test_nginx_that_compresses_replies_if_asked_to(nginx, local, tmp_path):
    check_reads(opened(f"{nginx[0]}/packed", tmp_path), local)


def test_a_content_encoding_of_nginx_is_refused(nginx, tmp_path):
    with pytest.raises(recmap.StorageError, match="content encoding"):
        opened(f"{nginx[0]}/stored", tmp_path)


def test_nginx_without_ranges_is_refused(nginx, tmp_path):
    with pytest.raises(recmap.StorageError, match=r"the server ignores ranges|does not say its"):
        bytes(opened(f"{nginx[0]}/whole", tmp_path)[0])


def test_nginx_without_etags(nginx, local, tmp_path):
    check_reads(opened(f"{nginx[0]}/weak", tmp_path), local)


def test_nginx_that_limits_the_rate(nginx, local, tmp_path):
    with opened(f"{nginx[0]}/slow", tmp_path, timeout=60) as ds:
        numbers = list(range(0, 1797, 60))
        assert gathered(ds, numbers) == gathered(local, numbers)


# ---- rclone.


@pytest.mark.parametrize("protocol", ["http", "webdav"])
def test_rclone_serves_shards(protocol, urls, local, tmp_path):
    with started_rclone(protocol, DIGITS, tmp_path) as url:
        check_reads(opened(url, tmp_path), local)
