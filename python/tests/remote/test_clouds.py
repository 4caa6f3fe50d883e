"""Credentials that botocore, google-auth and azure-identity find, from servers on this machine."""

import hashlib
import json
import pickle
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta

import pytest
import recmap
from conftest import DIGITS
from object_server import records_of
from recmap._options import clouds
from role_server import RoleServer, keys_of, opened

GOOGLE_URL = "gs://train/digits-*.tfrecord"
AZURE_URL = "az://train/digits-*.tfrecord"
TOKEN_PATH = "/computeMetadata/v1/instance/service-accounts/default/token"


@pytest.fixture
def unasked(monkeypatch):
    """Fails if a library is imported."""

    def fail(name):
        raise AssertionError(f"{name} is imported")

    monkeypatch.setattr(clouds, "is_installed", lambda name: True)
    monkeypatch.setattr(clouds, "import_library", fail)


def tokens_of(server):
    return {headers["Authorization"] for _, headers in server.requests}


# ---- Amazon.


@pytest.fixture
def roles(server, monkeypatch, libraries, tmp_path):
    pytest.importorskip("botocore.session")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("AWS_EC2_METADATA_DISABLED")
    with RoleServer() as roles:
        monkeypatch.setenv("AWS_ENDPOINT_URL_STS", roles.url)
        monkeypatch.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", roles.url)
        monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        yield roles


@pytest.fixture
def profiles(tmp_path, roles, monkeypatch):
    """A role that is assumed with the keys of another profile, and a profile without anything."""
    path = tmp_path / "aws-config"
    path.write_text(
        "[profile base]\naws_access_key_id = BASE\naws_secret_access_key = HIDDEN\n"
        "[profile train]\nrole_arn = arn:aws:iam::1:role/reader\nsource_profile = base\n"
        "[profile bare]\nregion = us-east-1\n"
    )
    monkeypatch.setenv("AWS_CONFIG_FILE", str(path))
    return roles


@pytest.mark.parametrize("kind", ["sts", "container", "machine"])
def test_botocore_is_asked_without_keys(kind, server, roles, local, monkeypatch, tmp_path):
    if kind == "sts":
        (tmp_path / "token").write_text("WEB-HIDDEN")
        monkeypatch.setenv("AWS_WEB_IDENTITY_TOKEN_FILE", str(tmp_path / "token"))
        monkeypatch.setenv("AWS_ROLE_ARN", "arn:aws:iam::1:role/r")
    elif kind == "container":
        monkeypatch.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", roles.url + "/container")
    with opened(server, tmp_path) as ds:
        assert records_of(ds) == records_of(local)
        assert "HIDDEN" not in repr(ds) + repr(ds._options)
    assert set(keys_of(server)) == {"ROLE1"}  # once for listing, indexing and reading
    assert b"HIDDEN" not in (tmp_path / "a.rmx").read_bytes()


@pytest.mark.parametrize("way", ["callable", "option", "environment"])
def test_a_profile_with_a_role(way, server, profiles, local, monkeypatch, tmp_path):
    more = {"profile": "train"} if way == "option" else {}
    if way == "environment":
        monkeypatch.setenv("AWS_PROFILE", "train")
    options = {"endpoint": server.url, "timeout": 20, **more}
    provide = recmap.storage.aws(profile="train") if way == "callable" else None
    with recmap.open(
        "s3://train/*",
        index=tmp_path / "a.rmx",
        storage=recmap.Storage(options=options, credentials=provide),
    ) as ds:
        assert bytes(ds[7]) == bytes(local[7])
        again = pickle.loads(pickle.dumps(ds))
        assert bytes(again[8]) == bytes(local[8])
    assert all(key.startswith("ROLE") for key in keys_of(server))
    assert set(profiles.paths()) == {"POST /"}


def test_a_profile_with_sso(server, roles, local, monkeypatch, tmp_path):
    """IAM Identity Center issues keys to whoever is logged in."""
    session = "sso_region = eu-west-1\nsso_start_url = https://my-sso.awsapps.com/start\n"
    names = "sso_session = my-sso\nsso_account_id = 1\nsso_role_name = reader\n"
    (tmp_path / "aws-config").write_text(f"[profile train]\n{names}[sso-session my-sso]\n{session}")
    folder = tmp_path / ".aws" / "sso" / "cache"
    folder.mkdir(parents=True)
    token = {"accessToken": "LOGIN-HIDDEN", "expiresAt": "2100-01-01T00:00:00Z"}
    name = hashlib.sha1(b"my-sso").hexdigest()
    (folder / f"{name}.json").write_text(json.dumps(token))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "aws-config"))
    monkeypatch.setenv("AWS_ENDPOINT_URL_SSO", roles.url)
    script = (
        "import recmap, sys\n"
        "options = {'endpoint': sys.argv[2], 'profile': 'train', 'timeout': 20}\n"
        "storage = recmap.Storage(options=options)\n"
        "ds = recmap.open('s3://train/*', index=sys.argv[1], storage=storage)\n"
        "print(bytes(ds[5]).hex())"
    )
    # In a process of its own: botocore keeps the home folder that it finds when it is imported.
    command = [sys.executable, "-c", script, str(tmp_path / "a.rmx"), server.url]
    said = subprocess.run(command, capture_output=True, text=True)
    assert said.stdout.strip() == bytes(local[5]).hex(), said.stderr
    assert set(keys_of(server)) == {"ROLE1"}
    ((_, path, headers, _),) = roles.requests
    assert path.startswith("/federation/credentials?")
    assert headers["x-amz-sso_bearer_token"] == "LOGIN-HIDDEN"


def test_the_expiry_of_keys(roles):
    """It is not later than the true one, and not before a half of the time that is left."""
    from botocore.credentials import Credentials, RefreshableCredentials

    assert clouds._expiry_of(Credentials("k", "s")) is None
    for seconds in (10.0, 100.0, 900.0, 3600.0, 40000.0, 80000.0):
        expires = datetime.now(UTC) + timedelta(seconds=seconds)
        keys = RefreshableCredentials("k", "s", "t", expires, dict, "test")
        left = clouds._expiry_of(keys) - time.time()
        assert min(seconds, 43200) / 2 - 1 <= left <= seconds


def test_keys_of_a_role_are_renewed(server, profiles, tmp_path):
    roles = profiles
    roles.seconds = 3.0
    with opened(server, tmp_path, profile="train") as ds:
        before = roles.count
        deadline = time.monotonic() + 30
        while roles.count == before and time.monotonic() < deadline:
            bytes(ds[0])
            time.sleep(0.05)
        roles.seconds = 3600.0
        while keys_of(server)[-1] != f"ROLE{roles.count}" and time.monotonic() < deadline:
            bytes(ds[1])
            time.sleep(0.05)
    assert roles.count > before and keys_of(server)[-1] == f"ROLE{roles.count}"


def test_the_machine_is_not_asked_if_the_environment_names_another_source(
    server, profiles, monkeypatch, tmp_path
):
    monkeypatch.setenv("AWS_PROFILE", "bare")
    with pytest.raises(recmap.InvalidError, match="no credentials are configured"):
        opened(server, tmp_path)
    with pytest.raises(recmap.InvalidError, match="botocore finds no credentials"):
        recmap.storage.aws(profile="bare")()
    assert profiles.requests == []


def test_a_source_that_fails_is_an_error(server, profiles, monkeypatch, tmp_path):
    profiles.answers["/"] = (403, "<Error><Code>AccessDenied</Code></Error>")
    with pytest.raises(recmap.StorageError, match="botocore gets no credentials") as caught:
        opened(server, tmp_path, profile="train")
    assert caught.value.advice and "HIDDEN" not in str(caught.value)
    assert server.requests == []


def test_a_source_that_fails_does_not_prevent_the_use_of_an_index(server, profiles, tmp_path):
    opened(server, tmp_path, profile="train").close()
    profiles.answers["/"] = (403, "")
    clouds._automatic.cache_clear()
    server.requests.clear()
    with pytest.warns(UserWarning, match="botocore gets no credentials"):
        ds = recmap.open(
            tmp_path / "a.rmx",
            storage=recmap.Storage(allow_urls=True, options={"profile": "train"}),
        )
    assert len(ds) == 1797 and server.requests == []
    ds.close()


def test_an_index_of_a_bucket_is_enough(server, roles, local, tmp_path):
    """Its name does not tell where the shards are."""
    opened(server, tmp_path).close()
    server.requests.clear()
    options = {"endpoint": server.url}
    with recmap.open(
        tmp_path / "a.rmx", storage=recmap.Storage(allow_urls=True, options=options)
    ) as ds:
        assert bytes(ds[3]) == bytes(local[3])
    assert all(key.startswith("ROLE") for key in keys_of(server))


# ---- Google.


TOKEN = {"access_token": "HIDDEN1", "expires_in": 3599, "token_type": "Bearer"}


@pytest.fixture
def google(server, monkeypatch, libraries, tmp_path):
    """The token service, and the metadata service of a machine."""
    pytest.importorskip("google.auth")
    pytest.importorskip("requests")
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path / "gcloud"))
    metadata = "/computeMetadata/v1/"
    with RoleServer() as google:
        google.answers = {
            "/": (200, ""),
            "/token": (200, json.dumps(TOKEN)),
            f"{metadata}instance/service-accounts/default/token": (200, json.dumps(TOKEN)),
            f"{metadata}instance/service-accounts/default/": (200, '{"email": "a", "scopes": []}'),
            f"{metadata}project/project-id": (200, '"project"'),
            f"{metadata}universe/universe-domain": (200, '"googleapis.com"'),
        }
        yield google


@pytest.fixture
def account(google, monkeypatch, tmp_path):
    """A file of a service account, whose tokens the server issues."""
    rsa = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.rsa")
    from cryptography.hazmat.primitives import serialization as form

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(
        form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption()
    ).decode()
    account = {"type": "service_account", "client_email": "a@b", "private_key": pem}
    path = tmp_path / "account.json"
    path.write_text(json.dumps({**account, "token_uri": f"{google.url}/token"}))
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(path))
    return google


def opened_at(url, server, folder, credentials=None):
    return recmap.open(
        url,
        index=folder / "a.rmx",
        storage=recmap.Storage(
            options={"endpoint": server.url, "timeout": 20}, credentials=credentials
        ),
    )


@pytest.mark.parametrize("is_asked", [False, True])
def test_a_service_account(is_asked, account, server, local, tmp_path):
    provide = recmap.storage.google() if is_asked else None
    with opened_at(GOOGLE_URL, server, tmp_path, provide) as ds:
        assert records_of(ds) == records_of(local)
    assert tokens_of(server) == {"Bearer HIDDEN1"}
    assert set(account.paths()) == {"POST /token"}  # no metadata service


def test_the_account_of_the_machine(google, server, local, monkeypatch, tmp_path):
    host = google.url.removeprefix("http://")
    monkeypatch.delenv("NO_GCE_CHECK")
    script = (
        "import recmap, sys\n"
        "storage = recmap.Storage(options={'endpoint': sys.argv[3], 'timeout': 20})\n"
        "ds = recmap.open(sys.argv[1], index=sys.argv[2], storage=storage)\n"
        "print(bytes(ds[5]).hex())"
    )
    # In a process of its own: google-auth keeps these addresses when it is imported.
    for name in ("GCE_METADATA_HOST", "GCE_METADATA_IP"):
        monkeypatch.setenv(name, host)
    command = [sys.executable, "-c", script, GOOGLE_URL, str(tmp_path / "a.rmx"), server.url]
    said = subprocess.run(command, capture_output=True, text=True)
    assert said.stdout.strip() == bytes(local[5]).hex(), said.stderr
    assert any(TOKEN_PATH in path for path in google.paths())


def test_a_file_that_is_missing_is_an_error(google, server, monkeypatch, tmp_path):
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "none.json"))
    with pytest.raises(recmap.StorageError, match="google-auth gets no credentials") as caught:
        opened_at(GOOGLE_URL, server, tmp_path)
    assert "GOOGLE_APPLICATION_CREDENTIALS" in caught.value.advice
    assert google.requests == []


# ---- Azure.


@pytest.fixture
def azure(server, monkeypatch, libraries, tmp_path):
    """A managed identity as the services of Azure that run jobs have it."""
    pytest.importorskip("azure.identity")
    monkeypatch.setenv("HOME", str(tmp_path))
    expires = datetime.now(UTC) + timedelta(hours=8)
    token = {"access_token": "HIDDEN1", "expires_on": int(expires.timestamp())}
    with RoleServer() as azure:
        body = json.dumps({**token, "resource": "r", "token_type": "Bearer"})
        azure.answers["/msi/token"] = (200, body)
        monkeypatch.setenv("IDENTITY_ENDPOINT", f"{azure.url}/msi/token")
        monkeypatch.setenv("IDENTITY_HEADER", "HIDDEN-HEADER")
        yield azure


@pytest.mark.parametrize("is_asked", [False, True])
def test_a_managed_identity(is_asked, azure, server, local, tmp_path):
    provide = recmap.storage.azure() if is_asked else None
    with opened_at(AZURE_URL, server, tmp_path, provide) as ds:
        assert records_of(ds) == records_of(local)
    assert azure.requests and tokens_of(server) == {"Bearer HIDDEN1"}
    assert all(headers["x-ms-date"].endswith(" GMT") for _, headers in server.requests)


def test_a_public_container_needs_no_library(azure, server, local, monkeypatch, tmp_path):
    """Unless the environment names a source."""
    monkeypatch.delenv("IDENTITY_ENDPOINT")
    with opened_at(AZURE_URL, server, tmp_path) as ds:
        assert bytes(ds[0]) == bytes(local[0])
    assert azure.requests == [] and tokens_of(server) == {None}


# ---- What asks no library.

PASSED = [
    ("s3://train/*", {"anonymous": True}, {}),
    ("s3://train/*", {"anon": True}, {}),
    ("s3://train/*", {"key": "k", "secret": "s"}, {}),
    ("s3://train/*", {}, {"AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s"}),
    ("gs://train/*", {"anonymous": True}, {}),
    ("gs://train/*", {"token": "t"}, {}),
    ("gs://train/*", {"key": "k", "secret": "s"}, {}),
    ("az://train/*", {}, {}),
    ("az://train/*", {"sas": "s"}, {"IDENTITY_ENDPOINT": "x"}),
    ("az://train/*", {}, {"IDENTITY_ENDPOINT": "x", "AZURE_STORAGE_SAS_TOKEN": "s"}),
    ("az://train/*", {"anonymous": True}, {"IDENTITY_ENDPOINT": "x"}),
]


@pytest.mark.parametrize(("url", "options", "environment"), PASSED)
def test_no_library_is_asked_with_other_access(
    url, options, environment, unasked, server, local, monkeypatch, tmp_path
):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    options = {"endpoint": server.url, **options}
    path = tmp_path / "a.rmx"
    with recmap.open(url, index=path, storage=recmap.Storage(options=options)) as ds:
        assert bytes(ds[1]) == bytes(local[1])
    with recmap.open(path, storage=recmap.Storage(allow_urls=True, options=options)) as ds:
        assert bytes(ds[1]) == bytes(local[1])


@pytest.mark.parametrize("query", ["", "?signature=HIDDEN"])
def test_no_library_is_asked_for_web_servers(query, unasked, server, local, tmp_path):
    urls = [f"{server.url}/train/digits-0000{i}-of-00004.tfrecord{query}" for i in range(4)]
    with recmap.open(urls, index=tmp_path / "a.rmx") as ds:
        assert bytes(ds[1]) == bytes(local[1])
    with recmap.open(DIGITS, index=tmp_path / "b.rmx") as ds:
        assert bytes(ds[1]) == bytes(local[1])


@pytest.mark.parametrize("url", ["gs://train/*", "az://train/*"])
def test_no_token_is_asked_for_clear_text(url, unasked, monkeypatch):
    monkeypatch.setenv("IDENTITY_ENDPOINT", "x")
    for endpoint in ("http://192.0.2.1:9000", "http://localhost.example.org", "http://[::1:0]:80"):
        clouds.add_found(None, [url], [("endpoint", endpoint)], fails=True)


def test_nothing_is_imported_before_a_bucket_is_opened(tmp_path):
    script = (
        "import sys, recmap\n"
        "recmap.storage.aws(), recmap.storage.google(), recmap.storage.azure()\n"
        "recmap.open(sys.argv[1], index=sys.argv[2])\n"
        "print({'botocore', 'google.auth', 'azure.identity', 'importlib.util'} & {*sys.modules})"
    )
    command = [sys.executable, "-c", script, str(DIGITS), str(tmp_path / "a.rmx")]
    said = subprocess.run(command, capture_output=True, text=True)
    assert said.stdout in ("set()\n", "{'importlib.util'}\n"), said.stderr


def test_a_library_that_is_missing_is_named(monkeypatch):
    def fail(name):
        raise ImportError(f"No module named {name!r}")

    monkeypatch.setattr(clouds, "import_library", fail)
    for provide in (recmap.storage.aws(), recmap.storage.google(), recmap.storage.azure()):
        with pytest.raises(recmap.InvalidError, match="cannot be imported") as caught:
            provide()
        assert caught.value.advice.startswith("install ")
