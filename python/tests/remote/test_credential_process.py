"""The option credential_process: a program prints the credentials of any store."""

import json
import shlex
import stat
import time
from datetime import UTC, datetime, timedelta

import pytest
import recmap
from object_server import records_of
from role_server import keys_of

KEYS = {
    "Version": 1,
    "AccessKeyId": "PRINTED",
    "SecretAccessKey": "HIDDEN",
    "SessionToken": "HIDDEN==",
    "Expiration": "2100-01-01T00:00:00Z",
}
TOKEN = {"token": "HIDDEN7", "expires": "2100-01-01T00:00:00Z"}


@pytest.fixture
def program(tmp_path):
    """Writes a program that notes its runs and prints a value. Returns its command."""

    def program(value, script=""):
        path = tmp_path / "my tools" / "issue"
        path.parent.mkdir(exist_ok=True)
        text = shlex.quote(json.dumps(value))
        path.write_text(f'#!/bin/sh\necho x >> "{tmp_path}/runs"\n{script}\necho {text}\n')
        path.chmod(stat.S_IRWXU)
        return f'"{path}" --for "a b; $HOME"'

    yield program


def runs(tmp_path):
    path = tmp_path / "runs"
    return len(path.read_text().split()) if path.exists() else 0


def opened(url, server, folder, **more):
    options = {"endpoint": server.url, "timeout": 20, **more}
    return recmap.open(url, index=folder / "a.rmx", storage=recmap.Storage(options=options))


def tokens_of(server):
    return {headers["Authorization"] for _, headers in server.requests}


@pytest.mark.parametrize("place", ["option", "environment"])
def test_keys_for_amazon(place, server, local, program, monkeypatch, tmp_path):
    """The environment's program comes before its keys."""
    more = {"credential_process": program(KEYS)} if place == "option" else {}
    if place == "environment":
        monkeypatch.setenv("RECMAP_CREDENTIAL_PROCESS", program(KEYS))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "ENVIRONMENT")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s")
    with opened("s3://train/*", server, tmp_path, **more) as ds:
        assert records_of(ds) == records_of(local)
        assert "HIDDEN" not in repr(ds) + repr(ds._options)
    assert set(keys_of(server)) == {"PRINTED"}
    assert runs(tmp_path) == 1


@pytest.mark.parametrize("scheme", ["gs", "az"])
def test_a_token_for_google_and_azure(scheme, server, local, program, tmp_path):
    command = program(TOKEN)
    with opened(f"{scheme}://train/*", server, tmp_path, credential_process=command) as ds:
        assert records_of(ds) == records_of(local)
    assert tokens_of(server) == {"Bearer HIDDEN7"}
    assert runs(tmp_path) == 1
    assert b"HIDDEN" not in (tmp_path / "a.rmx").read_bytes()


@pytest.mark.parametrize("scheme", ["gs", "az"])
def test_a_token_is_renewed_before_it_expires(scheme, server, program, tmp_path):
    soon = (datetime.now(UTC) + timedelta(seconds=4)).isoformat()
    command = program({"token": "HIDDEN7", "expires": soon})
    with opened(f"{scheme}://train/*", server, tmp_path, credential_process=command) as ds:
        bytes(ds[0])
        program({"token": "HIDDEN8", "expires": 4102444800})
        deadline = time.monotonic() + 30
        while "Bearer HIDDEN8" not in tokens_of(server) and time.monotonic() < deadline:
            bytes(ds[1])
            time.sleep(0.05)
        server.requests.clear()
        bytes(ds[2])
        assert tokens_of(server) == {"Bearer HIDDEN8"}


PASSED = [
    ("s3", {"key": "k", "secret": "s"}),
    ("s3", {"anonymous": True}),
    ("gs", {"token": "t"}),
    ("gs", {"key": "k", "secret": "s"}),
    ("az", {"sas": "s"}),
    ("az", {"token": "t"}),
    ("az", {"anonymous": True}),
]


@pytest.mark.parametrize(("scheme", "passed"), PASSED)
def test_what_is_passed_comes_first(scheme, passed, server, program, monkeypatch, tmp_path):
    monkeypatch.setenv("RECMAP_CREDENTIAL_PROCESS", program(KEYS, "exit 1"))
    with opened(f"{scheme}://train/*", server, tmp_path, **passed) as ds:
        bytes(ds[0])
    assert runs(tmp_path) == 0


def test_a_program_is_not_run_for_web_servers(server, program, monkeypatch, tmp_path):
    monkeypatch.setenv("RECMAP_CREDENTIAL_PROCESS", program(KEYS, "exit 1"))
    with opened(f"{server.url}/train/digits@4.tfrecord", server, tmp_path) as ds:
        bytes(ds[0])
    assert runs(tmp_path) == 0 and tokens_of(server) == {None}


@pytest.mark.parametrize(
    ("scheme", "value", "message"),
    [
        ("s3", TOKEN, "the credential_process prints no keys, as s3:// needs"),
        ("gs", KEYS, "the credential_process prints no token, as gs:// needs"),
        ("s3", {**KEYS, "Version": 2}, "its output cannot be understood"),
        ("gs", {"token": "a b"}, "its output cannot be understood"),
        ("az", {**TOKEN, "expires": 7}, "what it printed has expired"),
    ],
)
def test_other_credentials_are_errors(scheme, value, message, server, program, tmp_path):
    with pytest.raises(recmap.Error, match=message) as caught:
        opened(f"{scheme}://train/*", server, tmp_path, credential_process=program(value))
    assert caught.value.advice and "HIDDEN" not in str(caught.value)
    assert server.requests == []


@pytest.mark.parametrize("scheme", ["s3", "gs", "az"])
def test_a_program_that_fails_is_an_error(scheme, server, program, tmp_path):
    """No other identity is used instead, and no message has arguments or output."""
    command = program(TOKEN, "echo HIDDEN >&2; exit 3") + " HIDDEN"
    with pytest.raises(recmap.StorageError, match="no credentials from the cred") as caught:
        opened(f"{scheme}://train/*", server, tmp_path, credential_process=command)
    assert "it exited with status 3" in str(caught.value) and "HIDDEN" not in str(caught.value)
    assert caught.value.path.endswith("my tools/issue") and server.requests == []


@pytest.mark.parametrize("command", ['"x', '""', "x" * 5000])
def test_what_is_no_command_is_an_error(command, server, tmp_path):
    with pytest.raises(recmap.InvalidError, match=r"the credential_process is (not a|too long)"):
        opened("s3://train/*", server, tmp_path, credential_process=command)


@pytest.mark.parametrize(
    ("scheme", "line"),
    [
        ("s3", "aws configure export-credentials --format process"),
        ("gs", "gcloud config config-helper --format=json"),
    ],
)
def test_missing_keys_give_the_line(scheme, line, server, tmp_path):
    with pytest.raises(recmap.InvalidError, match="no credentials are configured") as caught:
        opened(f"{scheme}://train/*", server, tmp_path)
    assert f"RECMAP_CREDENTIAL_PROCESS to `{line}`" in caught.value.advice


def test_a_private_container_gives_the_line(server, tmp_path):
    server.signature = "sig=HIDDEN"
    with pytest.raises(PermissionError) as caught:
        opened("az://train/*", server, tmp_path)
    assert "az account get-access-token --resource" in caught.value.advice
