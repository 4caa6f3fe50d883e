"""Credentials of a role: from STS, the endpoint of a container, or the metadata service."""

import threading
import time
from urllib.parse import parse_qs

import pytest
import recmap
from real_servers import NAMES
from role_server import RoleServer, keys_of, opened


@pytest.fixture
def roles(server, monkeypatch):
    monkeypatch.delenv("AWS_EC2_METADATA_DISABLED", raising=False)
    with RoleServer() as roles:
        yield roles


@pytest.fixture(params=["sts", "container", "machine"])
def kind(request, roles, monkeypatch, tmp_path):
    """Each service in turn, as the environment names it."""
    if request.param == "sts":
        (tmp_path / "token").write_text("WEB-HIDDEN&token\n")
        monkeypatch.setenv("AWS_WEB_IDENTITY_TOKEN_FILE", str(tmp_path / "token"))
        monkeypatch.setenv("AWS_ROLE_ARN", "arn:aws:iam::1:role/a b")
        monkeypatch.setenv("AWS_ENDPOINT_URL_STS", roles.url + "/")
    elif request.param == "container":
        monkeypatch.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", roles.url + "/container")
        monkeypatch.setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN", "POD-HIDDEN")
    else:
        monkeypatch.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", roles.url)
    return request.param


PATHS = {
    "sts": "/",
    "container": "/container",
    "machine": "/latest/meta-data/iam/security-credentials/trainer-role",
}


def test_requests_are_signed_with_the_credentials_of_the_role(server, roles, kind, tmp_path):
    with opened(server, tmp_path) as ds:
        assert len(bytes(ds[5])) > 0
        assert "HIDDEN" not in repr(ds) + repr(ds._options)
    assert set(keys_of(server)) <= {f"ROLE{i + 1}" for i in range(roles.count)}
    assert {headers["X-Amz-Security-Token"] for _, headers in server.requests} == {"HIDDEN-token=="}
    method, _, headers, body = roles.requests[0]
    if kind == "sts":
        form = {name: values[0] for name, values in parse_qs(body).items()}
        assert method == "POST" and form["Action"] == "AssumeRoleWithWebIdentity"
        assert form["RoleArn"] == "arn:aws:iam::1:role/a b"
        assert form["WebIdentityToken"] == "WEB-HIDDEN&token"
    elif kind == "container":
        assert method == "GET" and headers["Authorization"] == "POD-HIDDEN"
    else:
        assert method == "PUT" and headers["X-aws-ec2-metadata-token-ttl-seconds"]


def test_a_process_fetches_credentials_once(server, roles, kind, tmp_path):
    for _ in range(2):  # each time, indexing and the data set have storages of their own
        with opened(server, tmp_path) as ds:
            for i in range(5):
                assert len(bytes(ds[i])) > 0
        assert roles.count == 1
    assert set(keys_of(server)) == {"ROLE1"}


def test_data_sets_share_credentials_that_are_renewed(server, roles, kind, tmp_path):
    """Those that expire are renewed once for two data sets, which then use the same ones."""
    roles.seconds = 3.0
    with opened(server, tmp_path) as one, opened(server, tmp_path) as two:
        bytes(one[0])
        bytes(two[0])
        before, first = roles.count, keys_of(server)[-1]
        roles.seconds = 3600.0
        deadline = time.monotonic() + 30
        while roles.count == before and time.monotonic() < deadline:
            bytes(one[1])
            time.sleep(0.05)
        assert roles.count == before + 1
        server.requests.clear()
        bytes(one[2])
        bytes(two[2])
        assert set(keys_of(server)) == {f"ROLE{before + 1}"} != {first}
        assert roles.count == before + 1


def test_another_environment_is_another_identity(server, roles, kind, tmp_path, monkeypatch):
    variables = {
        "sts": "AWS_ROLE_SESSION_NAME",
        "container": "AWS_CONTAINER_AUTHORIZATION_TOKEN",
        "machine": "AWS_WEB_IDENTITY_TOKEN_FILE",
    }
    opened(server, tmp_path).close()
    monkeypatch.setenv(variables[kind], "other")
    server.requests.clear()
    with opened(server, tmp_path) as ds:
        bytes(ds[0])
    assert roles.count == 2 and set(keys_of(server)) == {"ROLE2"}


@pytest.mark.parametrize("passes", ["option", "callable"])
def test_a_token_for_google_and_a_role_for_amazon(server, roles, kind, passes, local, tmp_path):
    """Each store gets its own, however often both are read."""
    urls = [
        f"{scheme}://train/{name}" for scheme, name in zip(("s3", "gs") * 2, NAMES, strict=True)
    ]
    options, token = {"endpoint": server.url, "timeout": 20}, {"token": "HIDDEN-of-google"}
    more = {"credentials": lambda: token} if passes == "callable" else {}
    if passes == "option":
        options |= token
    path = tmp_path / "both.rmx"
    with recmap.open(urls, index=path, storage=recmap.Storage(options=options), **more) as ds:
        for numbers in (range(0, 1797, 50), range(10, 1797, 300)):
            assert [bytes(record) for record in ds.gather(numbers)] == [
                bytes(record) for record in local.gather(numbers)
            ]
    for path, headers in server.requests:
        if NAMES.index(path.rpartition("/")[2]) % 2:
            assert headers["Authorization"] == "Bearer HIDDEN-of-google"
        else:
            assert "Credential=ROLE1/" in headers["Authorization"]
            assert headers["X-Amz-Security-Token"] == "HIDDEN-token=="
    assert {path.rpartition("/")[2] for path, _ in server.requests} == set(NAMES)


def test_explicit_keys_and_anonymous_access_ask_no_service(server, roles, kind, tmp_path):
    with opened(server, tmp_path, key="mine", secret="s") as ds:
        assert keys_of(server)[-1] == "mine" and len(ds) == 1797
    with opened(server, tmp_path, anonymous=True) as ds:
        assert keys_of(server)[-1] is None and len(ds) == 1797
    assert roles.requests == []


@pytest.mark.parametrize(
    "body",
    [
        "",
        "{}",
        "<a></a>",
        "x" * 100_000,
        b"\xff\0\xff",
        '{"AccessKeyId": "a\\nX: y", "SecretAccessKey": "b", "Token": "c", '
        '"Expiration": "2100-01-01T00:00:00Z"}',
        '{"AccessKeyId": "a", "SecretAccessKey": "HIDDEN", "Token": "c", "Expiration": "soon"}',
    ],
)
def test_replies_that_are_not_credentials_are_errors(server, roles, kind, tmp_path, body):
    roles.answers[PATHS[kind]] = (200, body)
    with pytest.raises(recmap.StorageError, match="no credentials from") as caught:
        opened(server, tmp_path)
    assert "HIDDEN" not in str(caught.value)
    assert server.requests == []


def test_a_service_that_refuses_is_an_error(server, roles, kind, tmp_path):
    roles.answers[PATHS[kind]] = (403, "<Error><Code>AccessDenied</Code></Error>")
    with pytest.raises(PermissionError, match="HTTP 403 AccessDenied") as caught:
        opened(server, tmp_path)
    assert "HIDDEN" not in str(caught.value)
    assert len(roles.requests) <= 3  # nothing is repeated


def test_a_service_that_fails_for_a_moment_is_asked_again(server, roles, kind, tmp_path):
    roles.failures[PATHS[kind]] = 2
    with opened(server, tmp_path) as ds:
        assert len(ds) == 1797
    assert roles.failures[PATHS[kind]] == 0


def test_a_machine_without_a_role_has_no_credentials(server, roles, monkeypatch, tmp_path):
    monkeypatch.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", roles.url)
    roles.answers["/latest/meta-data/iam/security-credentials/"] = (404, "")
    with pytest.raises(recmap.InvalidError, match="no credentials are configured"):
        opened(server, tmp_path)
    monkeypatch.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://127.0.0.1:1")
    with pytest.raises(recmap.InvalidError, match="no credentials are configured"):
        opened(server, tmp_path)
    count = len(roles.requests)
    monkeypatch.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", roles.url)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with pytest.raises(recmap.InvalidError, match="no credentials are configured"):
        opened(server, tmp_path)
    assert len(roles.requests) == count


def test_a_named_profile_is_not_replaced_by_a_role(server, roles, kind, tmp_path, monkeypatch):
    config = tmp_path / "config"
    config.write_text("[profile other]\nregion = eu-west-1\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(config))
    with pytest.raises(recmap.InvalidError, match="no credentials are configured"):
        opened(server, tmp_path, profile="other")
    assert roles.requests == []


@pytest.mark.parametrize("url", ["http://example.org/x", "ftp://127.0.0.1/", "http://127.0.0.1.x/"])
def test_the_token_of_a_container_is_not_sent_elsewhere(server, monkeypatch, tmp_path, url):
    monkeypatch.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", url)
    monkeypatch.setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN", "HIDDEN")
    with pytest.raises(PermissionError, match="neither one of this machine nor https") as caught:
        opened(server, tmp_path)
    assert "HIDDEN" not in str(caught.value)


def test_threads_wait_for_the_first_credentials(server, roles, kind, tmp_path):
    """Those of several data sets, too."""
    index = opened(server, tmp_path, key="mine", secret="s").index_path
    options = {"endpoint": server.url, "timeout": 20}
    sets = [
        recmap.open(index, storage=recmap.Storage(allow_urls=True, options=options))
        for _ in range(3)
    ]
    assert roles.count == 0
    results = []
    threads = [
        threading.Thread(target=lambda i=i: results.append(bytes(sets[i % 3][i]))) for i in range(9)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 9 and roles.count == 1
