"""Object stores: SeaweedFS always, moto and an emulator of Google's in the long tier, each by
itself and behind the fault proxy. Web servers behind the fault proxy: nginx and rclone. The oracle
is a local data set."""

import os
import random
import shutil
import ssl
import time

import numpy as np
import pytest
import recmap
from conftest import DIGITS, needs_cache_space
from fault_proxy import Client, FaultProxy, check_message, dripping, ending, failing, flipping, late
from object_server import gathered, records_of
from real_servers import (
    NAMES,
    find_program,
    free_ports,
    make_weed,
    send,
    skip_without_urls,
    started,
    started_nginx,
    started_rclone,
)
from test_network_schedules import CALLS, PASSING, schedule

IS_LONG = bool(os.environ.get("RECMAP_TEST_LONG"))
FOLDER = "a b=c"  # its characters must be signed as AWS says
URL = f"s3://train/{FOLDER}/digits-*.tfrecord"

pytestmark = pytest.mark.usefixtures("watchdog")


def only_in_long():
    if not IS_LONG:
        pytest.skip("runs in the long tier (RECMAP_TEST_LONG=1)")


@pytest.fixture(autouse=True)
def no_credentials(no_environment, monkeypatch):
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)


@pytest.fixture(scope="module")
def urls(tmp_path_factory):
    skip_without_urls(tmp_path_factory.mktemp("urls"))


@pytest.fixture(scope="module")
def weed(tmp_path_factory, urls):
    weed = make_weed(tmp_path_factory.mktemp("weed"))
    with weed.started():
        for name in NAMES:
            weed.put("train", f"{FOLDER}/{name}", (DIGITS / name).read_bytes())
        yield weed


@pytest.fixture(scope="module")
def moto(tmp_path_factory, urls):
    """The endpoint of moto, with the digits in a bucket."""
    only_in_long()
    program = find_program("moto_server", "pip install 'moto[server]'")
    (port,) = free_ports(1)
    log = tmp_path_factory.mktemp("moto") / "log"
    with started([program, "-H", "127.0.0.1", "-p", str(port)], port, log):
        url = f"http://127.0.0.1:{port}"
        signed = {
            "Authorization": "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request"
        }
        send(f"{url}/train", b"", **signed)
        for name in NAMES:
            send(f"{url}/train/a%20b%3Dc/{name}", (DIGITS / name).read_bytes(), **signed)
        yield url


@pytest.fixture(scope="module")
def google(tmp_path_factory, urls):
    """The endpoint of an emulator of Google Cloud Storage."""
    only_in_long()
    program = find_program("gcp-storage-emulator", "pip install gcp-storage-emulator")
    (port,) = free_ports(1)
    log = tmp_path_factory.mktemp("google") / "log"
    command = [program, "start", "--host=127.0.0.1", f"--port={port}", "--in-memory"]
    with started([*command, "--default-bucket=train"], port, log):
        url = f"http://127.0.0.1:{port}"
        for name in NAMES:
            query = f"uploadType=media&name={name}"
            content = {"Content_Type": "application/octet-stream"}
            data = (DIGITS / name).read_bytes()
            send(f"{url}/upload/storage/v1/b/train/o?{query}", data, "POST", **content)
        yield url


def opened(options, folder, url=URL, cache=None):
    path = folder / "served.rmx"
    storage = recmap.Storage(options=options, cache=cache)
    return recmap.open(url, id="id", index=path, storage=storage)


def batches(ds):
    with recmap.Loader(ds, 64, shuffle=True, seed=5, epochs=1, threads=2) as loader:
        return [[bytes(record) for record in batch] for batch in loader]


def check_reads(ds, local):
    """Everything that reads gives what the files give."""
    assert records_of(ds) == records_of(local)
    numbers = np.random.default_rng(5).permutation(len(local))
    assert gathered(ds, numbers) == gathered(local, numbers)
    assert ds.find("digit-01234") == 1234
    assert ds.verify()["damage"] == []
    assert batches(ds) == batches(local)


def check_schedule(target, options, local, folder, seed, **more):
    """Random faults that pass, between recmap and a store, change nothing."""
    ds = opened(options, folder, **more)
    with FaultProxy(target) as proxy:
        through = {**options, "endpoint": proxy.url, "timeout": 100}
        with recmap.open(
            ds.index_path, storage=recmap.Storage(allow_urls=True, options=through)
        ) as ds:
            check_calls(ds, proxy, local, seed)


def check_calls(ds, proxy, local, seed):
    source = random.Random(seed)
    schedule(proxy, random.Random(-1 - seed), PASSING, 0.3)
    for _ in range(6):
        call, own = source.choice(CALLS), source.randrange(1 << 30)
        assert call(ds, random.Random(own)) == call(local, random.Random(own)), call
    assert len(proxy.requests) > 6


def check_web_schedule(proxy, path, local, folder, seed, **options):
    """The same between recmap and a web server, whose URLs name the proxy."""
    names = [f"{proxy.url}{path}/{name}" for name in NAMES]
    with opened({"timeout": 100, **options}, folder, names) as ds:
        check_calls(ds, proxy, local, seed)


# ---- SeaweedFS.


def test_seaweedfs_serves_shards(weed, local, tmp_path):
    with opened(weed.options(), tmp_path) as ds:
        check_reads(ds, local)


@pytest.mark.parametrize(
    "pattern", [f"{FOLDER}/digits-*.tfrecord", f"{FOLDER}/", "**", f"{FOLDER}/**"]
)
def test_google_urls_are_listed_and_signed_as_those_of_amazon(weed, local, tmp_path, pattern):
    """With an HMAC key, the XML interface of Google Cloud Storage works like S3's."""
    with opened(weed.options(), tmp_path, f"gs://train/{pattern}") as ds:
        check_reads(ds, local)


@needs_cache_space
def test_seaweedfs_fills_a_cache(weed, local, tmp_path):
    with FaultProxy(weed.url) as proxy:
        options = weed.options(endpoint=proxy.url)
        with opened(options, tmp_path, cache=tmp_path / "cache") as ds:
            assert batches(ds) == batches(local)
            count = len(proxy.requests)
            assert batches(ds) == batches(local)
            assert len(proxy.requests) == count


def test_wrong_credentials_for_seaweedfs(weed, tmp_path):
    index = opened(weed.options(), tmp_path).index_path
    for wrong, reason in (
        ({"secret": "WRONG-HIDDEN"}, "SignatureDoesNotMatch"),
        ({"key": "WRONG-HIDDEN"}, "InvalidAccessKeyId"),
    ):
        options = weed.options(**wrong)
        with recmap.open(index, storage=recmap.Storage(allow_urls=True, options=options)) as ds:
            with pytest.raises(PermissionError, match=reason) as caught:
                ds[0]
            check_message(caught.value)
    with pytest.raises(recmap.InvalidError, match="no credentials are configured"):
        recmap.open(index, storage=recmap.Storage(allow_urls=True, options={"endpoint": weed.url}))[
            0
        ]


def test_presigned_urls_of_seaweedfs(weed, local, tmp_path):
    signed = [weed.presign("train", f"{FOLDER}/{name}", 600) for name in NAMES]
    with recmap.open(signed, id="id", index=tmp_path / "a.rmx") as ds:
        check_reads(ds, local)
    expired = [weed.presign("train", f"{FOLDER}/{name}", 1) for name in NAMES]
    time.sleep(2.1)
    with recmap.open(expired, index=tmp_path / "a.rmx") as ds, pytest.raises(PermissionError) as e:
        ds[0]
    assert "Signature" not in str(e.value).replace("AuthorizationQueryParametersError", "")


def test_an_object_of_seaweedfs_that_is_replaced(weed, tmp_path):
    """Another object of the same size is refused by its ETag; the old bytes under the name again
    are accepted."""
    data = (DIGITS / NAMES[0]).read_bytes()
    weed.put("other", NAMES[0], data)
    with opened(weed.options(), tmp_path, f"s3://other/{NAMES[0]}") as ds:
        records = records_of(ds)
    weed.put("other", NAMES[0], data[::-1])
    options = weed.options()
    with (
        recmap.open(ds.index_path, storage=recmap.Storage(allow_urls=True, options=options)) as ds,
        pytest.raises(recmap.StaleIndexError, match=NAMES[0]),
    ):
        ds[0]
    weed.put("other", NAMES[0], data)
    with recmap.open(
        ds.index_path, shards="s3://other/", storage=recmap.Storage(options=options)
    ) as ds:
        assert records_of(ds) == records


def test_a_long_listing_of_seaweedfs(weed, tmp_path):
    """A list of several pages, whose keys are in order."""
    count = 1100 if IS_LONG else 12
    data = (DIGITS / NAMES[0]).read_bytes()[:136]  # one record
    for number in range(count):
        weed.put("many", f"x/{number:05d}.tfrecord", data)
    ds = opened(weed.options(), tmp_path, "s3://many/x/*[05].tfrecord")
    assert [shard["path"][-14:] for shard in ds.shards] == [
        f"{number:05d}.tfrecord" for number in range(0, count, 5)
    ]
    with pytest.raises(FileNotFoundError, match="none"):
        opened(weed.options(), tmp_path, "s3://many/none/*.tfrecord")


@pytest.mark.parametrize("seed", range(20 if IS_LONG else 1))
def test_faults_before_seaweedfs(weed, local, tmp_path, scratch, seed):
    check_schedule(weed.url, weed.options(), local, tmp_path, seed)


@pytest.mark.parametrize(
    "fault",
    [ending(Client.reset, 0.5), failing(503, "SlowDown"), flipping(-6), dripping(9, 0.01), late(1)],
)
def test_indexing_from_seaweedfs_through_faults(weed, tmp_path, scratch, fault):
    local = recmap.index(DIGITS, tmp_path / "local.rmx", id="id", progress=None)
    with FaultProxy(weed.url) as proxy:
        # Not those that find out size and compression: what they flip cannot be noticed.
        proxy.plan(fault, 2, lambda request: (request.headers["Range"] or "-15")[-3:] != "-15")
        options = weed.options(endpoint=proxy.url)
        with opened(options, tmp_path) as ds, recmap.open(local, shards=DIGITS) as expected:
            assert records_of(ds) == records_of(expected)
        assert proxy.used() == 2


def test_seaweedfs_ends_and_starts_again(tmp_path, local, urls):
    """Requests wait for a server that is started again."""
    only_in_long()
    (tmp_path / "weed").mkdir()
    weed = make_weed(tmp_path / "weed")
    with weed.started():
        for name in NAMES:
            weed.put("train", f"{FOLDER}/{name}", (DIGITS / name).read_bytes())
        ds = opened(weed.options(timeout=120), tmp_path)
    with weed.started():
        assert gathered(ds, range(0, 1700, 50)) == gathered(local, range(0, 1700, 50))


# ---- nginx.


@pytest.fixture(scope="module")
def nginx(tmp_path_factory, urls):
    """Its address, and the folder of its certificate."""
    folder = tmp_path_factory.mktemp("nginx")
    with started_nginx(folder, DIGITS) as (address, _, _):
        yield address, folder


@pytest.mark.parametrize("seed", range(20 if IS_LONG else 1))
def test_faults_before_nginx(nginx, local, tmp_path, scratch, seed):
    with FaultProxy(nginx[0]) as proxy:
        check_web_schedule(proxy, "/weak" if seed % 2 else "/train", local, tmp_path, seed)


@pytest.mark.parametrize("seed", range(10 if IS_LONG else 1))
def test_faults_before_nginx_with_encryption(nginx, local, tmp_path, scratch, seed):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(nginx[1] / "server.crt", nginx[1] / "server.key")
    with FaultProxy(nginx[0], context=context) as proxy:
        authority = {"ca_bundle": nginx[1] / "ca.crt"}
        check_web_schedule(proxy, "/train", local, tmp_path, seed, **authority)


@pytest.mark.parametrize(
    "fault",
    [ending(Client.reset, 0.5), failing(503), failing(429), flipping(-6), dripping(9, 0.01)],
)
def test_indexing_from_nginx_through_faults(nginx, tmp_path, scratch, fault):
    local = recmap.index(DIGITS, tmp_path / "local.rmx", id="id", progress=None)
    with FaultProxy(nginx[0]) as proxy:
        names = [f"{proxy.url}/train/{name}" for name in NAMES]
        # Not those that find out size and compression: what they flip cannot be noticed.
        proxy.plan(fault, 2, lambda request: (request.headers["Range"] or "-15")[-3:] != "-15")
        options = {"timeout": 20}
        with opened(options, tmp_path, names) as ds, recmap.open(local, shards=DIGITS) as expected:
            assert records_of(ds) == records_of(expected)
        assert proxy.used() == 2


def test_nginx_that_limits_the_rate_before_faults(nginx, local, tmp_path, scratch):
    """Replies of a server that is really overloaded, and of the proxy."""
    with FaultProxy(nginx[0]) as proxy:
        names = [f"{proxy.url}/slow/{name}" for name in NAMES]
        with opened({"timeout": 100}, tmp_path, names) as ds:
            schedule(proxy, random.Random(7), PASSING, 0.2)
            numbers = list(range(0, 1797, 40))
            assert gathered(ds, numbers) == gathered(local, numbers)


# ---- rclone.


@pytest.mark.parametrize("protocol", ["http", "webdav"])
@pytest.mark.parametrize("seed", range(10 if IS_LONG else 1))
def test_faults_before_rclone(urls, local, tmp_path, scratch, protocol, seed):
    with started_rclone(protocol, DIGITS, tmp_path) as address, FaultProxy(address) as proxy:
        check_web_schedule(proxy, "", local, tmp_path, seed)


def test_rclone_as_a_store_is_refused(urls, tmp_path):
    """Its replies have the status of a whole object. They are not taken for small objects."""
    folder = tmp_path / "served"
    shutil.copytree(DIGITS, folder / "train")
    with started_rclone("s3", folder, tmp_path, "--auth-key", "test,secret") as address:
        options = {"endpoint": address, "key": "test", "secret": "secret", "timeout": 20}
        with pytest.raises(recmap.StorageError, match="sends a range as if it were the object"):
            opened(options, tmp_path, "s3://train/digits-*.tfrecord")
        assert not (tmp_path / "served.rmx").exists()


# ---- moto.


def test_moto_serves_shards(moto, local, tmp_path):
    options = {"endpoint": moto, "key": "test", "secret": "test", "timeout": 20}
    with opened(options, tmp_path) as ds:
        check_reads(ds, local)


def test_a_web_identity_of_moto(moto, libraries, local, tmp_path, monkeypatch):
    """moto's STS issues the credentials that moto's S3 is read with."""
    pytest.importorskip("botocore.session")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    (tmp_path / "token").write_text("web identity")
    monkeypatch.setenv("AWS_WEB_IDENTITY_TOKEN_FILE", str(tmp_path / "token"))
    monkeypatch.setenv("AWS_ROLE_ARN", "arn:aws:iam::123456789012:role/reader")
    monkeypatch.setenv("AWS_ENDPOINT_URL_STS", moto)
    with FaultProxy(moto) as proxy:
        with opened({"endpoint": proxy.url, "timeout": 20}, tmp_path) as ds:
            check_reads(ds, local)
        assert all(
            "Credential=ASIA" in request.headers["Authorization"] for request in proxy.requests
        )
        assert all(request.headers["X-Amz-Security-Token"] for request in proxy.requests)


def test_a_profile_with_a_role_of_moto(moto, libraries, local, tmp_path, monkeypatch):
    pytest.importorskip("botocore.session")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    (tmp_path / "config").write_text(
        "[profile reader]\nrole_arn = arn:aws:iam::123456789012:role/reader\n"
        "external_id = partner\nsource_profile = base\n"
        "[profile base]\naws_access_key_id = test\naws_secret_access_key = test\n"
    )
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_ENDPOINT_URL_STS", moto)
    with FaultProxy(moto) as proxy:
        options = {"endpoint": proxy.url, "profile": "reader", "timeout": 20}
        with opened(options, tmp_path) as ds:
            check_reads(ds, local)
        assert all(
            "Credential=ASIA" in request.headers["Authorization"] for request in proxy.requests
        )


def test_errors_of_moto(moto, tmp_path):
    options = {"endpoint": moto, "key": "test", "secret": "test", "timeout": 20}
    with pytest.raises(FileNotFoundError, match="NoSuchKey"):
        opened(options, tmp_path, "s3://train/none.tfrecord")
    with pytest.raises(FileNotFoundError, match="NoSuchBucket"):
        opened(options, tmp_path, "s3://none/*.tfrecord")


def test_an_object_of_moto_that_is_replaced(moto, tmp_path):
    signed = {
        "Authorization": "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request"
    }
    options = {"endpoint": moto, "key": "test", "secret": "test", "timeout": 20}
    data = (DIGITS / NAMES[0]).read_bytes()
    send(f"{moto}/train/one.tfrecord", data, **signed)
    with opened(options, tmp_path, "s3://train/one.tfrecord") as ds:
        send(f"{moto}/train/one.tfrecord", data[::-1], **signed)
        with pytest.raises(recmap.StaleIndexError, match=r"one\.tfrecord"):
            ds[0]


@pytest.mark.parametrize("seed", range(3))
def test_faults_before_moto(moto, local, tmp_path, scratch, seed):
    options = {"endpoint": moto, "key": "test", "secret": "test", "timeout": 20}
    check_schedule(moto, options, local, tmp_path, seed)


# ---- An emulator of Google Cloud Storage. It serves objects, but no lists of the XML interface.


def test_google_serves_shards(google, local, tmp_path):
    options = {"endpoint": google, "token": "ya29.HIDDEN", "timeout": 20}
    with opened(options, tmp_path, "gs://train/digits@4.tfrecord") as ds:
        check_reads(ds, local)
    with pytest.raises(recmap.StorageError, match="501") as caught:
        opened({**options, "timeout": 2}, tmp_path, "gs://train/digits-*.tfrecord")
    check_message(caught.value)


@pytest.mark.parametrize("seed", range(3))
def test_faults_before_google(google, local, tmp_path, scratch, seed):
    options = {"endpoint": google, "anonymous": True, "timeout": 20}
    url = "gs://train/digits@4.tfrecord"
    check_schedule(google, options, local, tmp_path, seed, url=url)
