"""Profiles whose credentials a program prints, or IAM Identity Center issues."""

import hashlib
import json
import os
import shlex
import signal
import stat
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
import recmap
from role_server import RoleServer, keys_of, opened
from test_role_profiles import KEYS, check_reads, form_of, role

START_URL = "https://my-sso.awsapps.com/start"
LEGACY = (
    f"sso_start_url = {START_URL}\nsso_region = eu-west-1\n"
    "sso_account_id = 123456789012\nsso_role_name = read only\n"
)
SESSION = (
    "sso_session = my-sso\nsso_account_id = 123456789012\nsso_role_name = read only\n"
    f"[sso-session my-sso]\nsso_region = eu-west-1\nsso_start_url = {START_URL}\n"
)


@pytest.fixture
def portal(server, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    with RoleServer() as portal:
        monkeypatch.setenv("AWS_ENDPOINT_URL_SSO", portal.url)
        monkeypatch.setenv("AWS_ENDPOINT_URL_STS", portal.url)
        yield portal


@pytest.fixture
def write(tmp_path, portal, monkeypatch):
    """Writes the files of AWS."""

    def write(config, credentials=""):
        (tmp_path / ".aws").mkdir(exist_ok=True)
        (tmp_path / ".aws" / "config").write_text(config)
        (tmp_path / ".aws" / "credentials").write_text(credentials)

    monkeypatch.delenv("AWS_CONFIG_FILE")
    monkeypatch.delenv("AWS_SHARED_CREDENTIALS_FILE")
    return write


@pytest.fixture
def login(tmp_path, portal):
    """Does what `aws sso login` does."""

    def login(name, seconds=3600, **more):
        expires = datetime.now(UTC) + timedelta(seconds=seconds)
        token = {
            "startUrl": START_URL,
            "region": "eu-west-1",
            "accessToken": "TOKEN-HIDDEN",
            "expiresAt": expires.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "clientSecret": "CLIENT-HIDDEN",
            "refreshToken": "REFRESH-HIDDEN",
        } | more
        folder = tmp_path / ".aws" / "sso" / "cache"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / (hashlib.sha1(name.encode()).hexdigest() + ".json")
        path.write_text(json.dumps(token))
        return path

    return login


@pytest.fixture
def program(tmp_path):
    """Writes a program into a folder whose name has a space, and returns its command."""

    def program(script):
        path = tmp_path / "my tools" / "issue"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(stat.S_IRWXU)
        return f'"{path}"'

    return program


def printed(**more):
    """A script that prints credentials."""
    values = {
        "Version": 1,
        "AccessKeyId": "PROGRAM",
        "SecretAccessKey": "PROGRAM-HIDDEN",
        "SessionToken": "HIDDEN-token==",
        "Expiration": "2100-01-01T00:00:00Z",
    } | more
    values = {name: value for name, value in values.items() if value is not None}
    return f"echo {shlex.quote(json.dumps(values))}"


def profile(text, name="train"):
    return f"[profile {name}]\n{text}\n"


# ---- Programs.


def test_a_program_prints_credentials(server, portal, write, program, tmp_path):
    script = f'echo "$# $1 $2" > "{tmp_path}/arguments"; echo ERROR-HIDDEN >&2; ' + printed()
    write(profile(f"credential_process = {program(script)} --for \"a  $HOME '*' ;x\""))
    check_reads(server, tmp_path, "PROGRAM", profile="train")
    assert (tmp_path / "arguments").read_text() == "2 --for a  $HOME '*' ;x\n"
    assert portal.requests == []


def test_credentials_that_do_not_expire(server, portal, write, program, tmp_path):
    script = f'echo x >> "{tmp_path}/runs"; ' + printed(SessionToken=None, Expiration=None)
    write(profile(f"credential_process = {program(script)}"))
    for _ in range(2):
        with opened(server, tmp_path, profile="train") as ds:
            assert len(bytes(ds[5])) > 0
    assert set(keys_of(server)) == {"PROGRAM"}
    assert {headers["X-Amz-Security-Token"] for _, headers in server.requests} == {None}
    assert (tmp_path / "runs").read_text() == "x\n"


def test_credentials_of_a_program_are_renewed(server, portal, write, program, tmp_path):
    """Before they expire, for all data sets at once. The files are read again then."""
    soon = (datetime.now(UTC) + timedelta(seconds=4)).isoformat()
    write(profile(f"credential_process = {program(printed(Expiration=soon))}"))
    with (
        opened(server, tmp_path, profile="train") as one,
        opened(server, tmp_path, profile="train") as two,
    ):
        bytes(one[0])
        bytes(two[0])
        script = f'echo x >> "{tmp_path}/runs"; ' + printed(AccessKeyId="LATER")
        write(profile(f"credential_process = {program(script)}"))
        deadline = time.monotonic() + 30
        while "LATER" not in keys_of(server) and time.monotonic() < deadline:
            bytes(one[1])
            time.sleep(0.05)
        server.requests.clear()
        bytes(one[2])
        bytes(two[2])
        assert set(keys_of(server)) == {"LATER"}
        assert (tmp_path / "runs").read_text() == "x\n"


def test_credentials_are_used_until_they_expire_if_a_program_fails(
    server, portal, write, program, tmp_path
):
    soon = (datetime.now(UTC) + timedelta(seconds=3)).isoformat()
    write(profile(f"credential_process = {program(printed(Expiration=soon))}"))
    with opened(server, tmp_path, profile="train") as ds:
        bytes(ds[0])
        program("exit 7")
        with pytest.raises(recmap.StorageError, match="exited with status 7"):
            for _ in range(600):
                bytes(ds[1])
                time.sleep(0.05)
        assert time.time() >= datetime.fromisoformat(soon).timestamp() - 1
        assert set(keys_of(server)) == {"PROGRAM"}


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("echo HIDDEN; echo HIDDEN >&2; exit 3", "it exited with status 3"),
        (printed() + "; exit 1", "it exited with status 1"),
        ("kill -TERM $$", "it was killed by signal 15"),
        ("echo HIDDEN", "its output cannot be understood"),
        ("true", "its output cannot be understood"),
        ("head -c 100000 /dev/zero", "it printed more than 65536 bytes"),
        ("yes HIDDEN", "it printed more than 65536 bytes"),
        (printed(Version=2), "its output cannot be understood"),
        (printed(Version=None), "its output cannot be understood"),
        (printed(SecretAccessKey=None), "its output cannot be understood"),
        (printed(SessionToken="a\r\nX: HIDDEN"), "its output cannot be understood"),
        (printed(Expiration="tomorrow"), "its output cannot be understood"),
        (printed(Expiration="2001-01-01T00:00:00Z"), "what it printed has expired"),
        ("exec cat", "its output cannot be understood"),
    ],
)
def test_programs_that_fail(server, portal, write, program, tmp_path, script, message):
    """No other identity is used instead, and the output is in no message."""
    write(profile(f"credential_process = {program(script)} ARGUMENT-HIDDEN"))
    with pytest.raises(
        recmap.StorageError, match="no credentials from the credential_process"
    ) as e:
        opened(server, tmp_path, profile="train").close()
    assert message in str(e.value) and 'profile "train"' in str(e.value)
    assert "HIDDEN" not in str(e.value) and e.value.advice
    assert e.value.path.endswith("my tools/issue")
    assert server.requests == [] and portal.requests == []


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("/does/not/exist", "it cannot be run: No such file or directory"),
        ("/", "it cannot be run: Permission denied"),
    ],
)
def test_programs_that_cannot_be_run(server, portal, write, tmp_path, command, message):
    write(profile(f"credential_process = {command} HIDDEN"))
    with pytest.raises(recmap.StorageError, match=message) as caught:
        opened(server, tmp_path, profile="train").close()
    assert "HIDDEN" not in str(caught.value)


@pytest.mark.parametrize("command", ['"x', "'x", "x\\", '""', "x " * 300, "x" * 5000])
def test_commands_that_cannot_be_split(server, portal, write, tmp_path, command):
    write(profile(f"credential_process = {command}"))
    with pytest.raises(
        recmap.InvalidError, match=r'the profile "train" is (not a command|too long)'
    ):
        opened(server, tmp_path, profile="train").close()


def test_a_program_is_interrupted(server, portal, write, program, tmp_path):
    """Ctrl-C ends the program, too."""
    write(profile(f"credential_process = {program(f'echo $$ > {tmp_path}/pid; sleep 60')}"))
    timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        opened(server, tmp_path, profile="train")
    timer.join()
    assert time.monotonic() - begun < 30
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_a_program_may_be_the_source_of_a_role(server, portal, write, program, tmp_path):
    base = profile(f"credential_process = {program(printed())}", "base")
    write(role("train", "source_profile = base") + base)
    check_reads(server, tmp_path, "ROLE1", profile="train")
    (request,) = portal.requests
    assert "Credential=PROGRAM/" in request[2]["Authorization"]
    assert request[2]["X-Amz-Security-Token"] == "HIDDEN-token=="


def test_the_default_profile_may_have_a_program(
    server, portal, write, program, monkeypatch, tmp_path
):
    """It comes before the services of the environment, and after keys of the environment."""
    write(f"[default]\ncredential_process = {program(printed())}\n")
    check_reads(server, tmp_path, "PROGRAM")
    server.requests.clear()
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "ENVIRONMENT")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s")
    with opened(server, tmp_path) as ds:
        bytes(ds[5])
    assert set(keys_of(server)) == {"ENVIRONMENT"}


@pytest.mark.parametrize("place", ["config", "credentials"])
def test_keys_and_a_program(server, portal, write, program, tmp_path, place):
    """As for the tools of AWS, keys in the first file come before a program."""
    command = f"credential_process = {program(printed(SessionToken=None))}\n"
    keys = f"[train]\n{KEYS}" if place == "credentials" else ""
    write(profile(command + (KEYS if place == "config" else "")), keys)
    with opened(server, tmp_path, profile="train") as ds:
        bytes(ds[5])
    assert set(keys_of(server)) == {"PROGRAM" if place == "config" else "SOURCE"}


# ---- IAM Identity Center.


@pytest.mark.parametrize("form", ["session", "legacy"])
def test_the_portal_issues_credentials(server, portal, write, login, tmp_path, form):
    write(profile(SESSION if form == "session" else LEGACY))
    login("my-sso" if form == "session" else START_URL)
    check_reads(server, tmp_path, "ROLE1", profile="train")
    (request,) = portal.requests
    method, path, headers, _ = request
    assert method == "GET" and urlsplit(path).path == "/federation/credentials"
    expected = {"account_id": ["123456789012"], "role_name": ["read only"]}
    assert parse_qs(urlsplit(path).query) == expected and "role_name=read%20only&" in path
    assert headers["x-amz-sso_bearer_token"] == "TOKEN-HIDDEN"
    assert headers["Authorization"] is None


def test_the_client_of_aws_asks_the_same(server, portal, write, login, tmp_path):
    """And it understands what this test replies."""
    pytest.importorskip("botocore.session")
    write(profile(SESSION))
    login("my-sso")
    check_reads(server, tmp_path, "ROLE1", profile="train")
    # In a process of its own: botocore keeps the home folder that it finds when it is imported.
    script = (
        "import botocore.session as b\n"
        "keys = b.Session(profile='train').get_credentials().get_frozen_credentials()\n"
        "print(keys.access_key, keys.token)"
    )
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert printed.stdout.split() == ["ROLE2", "HIDDEN-token=="], printed.stderr
    ours, theirs = portal.requests
    assert ours[0] == theirs[0] and urlsplit(ours[1]).path == urlsplit(theirs[1]).path
    assert parse_qs(urlsplit(ours[1]).query) == parse_qs(urlsplit(theirs[1]).query)
    name = "x-amz-sso_bearer_token"
    assert ours[2][name] == theirs[2][name] == "TOKEN-HIDDEN"


def test_credentials_of_the_portal_are_renewed(server, portal, write, login, tmp_path):
    """With the token of the last login."""
    write(profile(SESSION))
    login("my-sso")
    portal.seconds = 3.0
    with opened(server, tmp_path, profile="train") as ds:
        bytes(ds[0])
        login("my-sso", accessToken="SECOND-HIDDEN")
        before, portal.seconds = portal.count, 3600.0
        deadline = time.monotonic() + 30
        while portal.count == before and time.monotonic() < deadline:
            bytes(ds[1])
            time.sleep(0.05)
        bytes(ds[2])
        assert portal.count == before + 1 and keys_of(server)[-1] == f"ROLE{before + 1}"
    assert portal.requests[-1][2]["x-amz-sso_bearer_token"] == "SECOND-HIDDEN"


def test_the_portal_may_be_the_source_of_a_role(server, portal, write, login, tmp_path):
    write(role("train", "source_profile = base") + profile(SESSION, "base"))
    login("my-sso")
    check_reads(server, tmp_path, "ROLE2", profile="train")
    assert form_of(portal.requests[-1])["Action"] == "AssumeRole"
    assert "Credential=ROLE1/" in portal.requests[-1][2]["Authorization"]


def test_the_portal_comes_before_keys_and_programs(server, portal, write, login, tmp_path):
    write(profile("credential_process = false\n" + SESSION), f"[train]\n{KEYS}")
    login("my-sso")
    check_reads(server, tmp_path, "ROLE1", profile="train")


@pytest.mark.parametrize(
    ("token", "message"),
    [
        (None, "nobody is logged in"),
        ({"seconds": -1}, "the login has expired"),
        ({"accessToken": "a\r\nX: HIDDEN"}, "no token that can be understood"),
        ({"accessToken": "x" * 9000}, "no token that can be understood"),
        ({"accessToken": None}, "no token that can be understood"),
        ({"expiresAt": "HIDDEN"}, "no token that can be understood"),
        ({"more": "x" * 70000}, "no token that can be understood"),
    ],
)
def test_logins_that_cannot_be_used(server, portal, write, login, tmp_path, token, message):
    write(profile(SESSION, "my profile"), f"[default]\n{KEYS}")
    if token:
        login("my-sso", **token)
    with pytest.raises(PermissionError, match=message) as caught:
        opened(server, tmp_path, profile="my profile").close()
    text = str(caught.value)
    assert 'no credentials from IAM Identity Center for the profile "my profile"' in text
    assert "aws sso login --profile 'my profile'" in caught.value.advice
    assert caught.value.path.endswith(hashlib.sha1(b"my-sso").hexdigest() + ".json")
    assert "HIDDEN" not in text and server.requests == [] and portal.requests == []


def test_a_token_that_is_not_a_file(server, portal, write, login, tmp_path):
    write(profile(SESSION))
    path = login("my-sso")
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(recmap.StorageError, match="is a FIFO, not a regular file"):
        opened(server, tmp_path, profile="train").close()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (LEGACY.replace("sso_start_url", "x"), "sso_start_url is missing"),
        (LEGACY.replace("sso_region", "x"), "sso_region is missing"),
        (LEGACY.replace("sso_account_id", "x"), "sso_account_id is missing"),
        (LEGACY.replace("sso_role_name", "x"), "sso_role_name is missing"),
        (LEGACY.replace("eu-west-1", "a.example/"), "sso_region is not one"),
        (LEGACY.replace("read only", "x" * 600), "sso_role_name is too long"),
        ("sso_session = my-sso", "the sso-session that it names does not exist"),
        (SESSION.replace("[sso-session my", "[sso-session x"), "does not exist"),
        ("sso_region = us-east-1\n" + SESSION, "sso_region differs between the profile and"),
        (SESSION.replace("eu-west-1", "x" * 600), "sso_region is too long"),
    ],
)
def test_profiles_that_cannot_be_used(server, portal, write, login, tmp_path, text, message):
    write(profile(text))
    login("my-sso")
    login(START_URL)
    with pytest.raises(recmap.InvalidError, match=f'"train" cannot be used: .*{message}') as caught:
        opened(server, tmp_path, profile="train").close()
    assert caught.value.advice and server.requests == [] and portal.requests == []


def answer_portal(portal, status, body):
    path = "/federation/credentials?role_name=read%20only&account_id=123456789012"
    portal.answers[path] = (status, body)


@pytest.mark.parametrize(
    ("status", "advice"), [(401, "aws sso login --profile train"), (403, "sso_role_name")]
)
def test_the_portal_refuses(server, portal, write, login, tmp_path, status, advice):
    write(profile(SESSION))
    login("my-sso")
    answer_portal(portal, status, '{"message": "TOKEN-HIDDEN"}')
    with pytest.raises(PermissionError, match=f"it answers HTTP {status}") as caught:
        opened(server, tmp_path, profile="train").close()
    assert advice in caught.value.advice and "HIDDEN" not in str(caught.value)
    assert server.requests == [] and len(portal.requests) <= 2  # nothing is repeated


@pytest.mark.parametrize(
    "body",
    ["", "{}", "x" * 100_000, b"\xff\0\xff", '{"roleCredentials": {"accessKeyId": "HIDDEN"}}'],
)
def test_replies_that_are_not_credentials(server, portal, write, login, tmp_path, body):
    write(profile(SESSION))
    login("my-sso")
    answer_portal(portal, 200, body)
    with pytest.raises(recmap.StorageError, match="no credentials from IAM Identity") as caught:
        opened(server, tmp_path, profile="train").close()
    assert "HIDDEN" not in str(caught.value) and server.requests == []


def test_a_portal_that_fails_for_a_moment_is_asked_again(server, portal, write, login, tmp_path):
    write(profile(SESSION))
    login("my-sso")
    path = "/federation/credentials?role_name=read%20only&account_id=123456789012"
    portal.failures[path] = 2
    check_reads(server, tmp_path, "ROLE1", profile="train")
    assert portal.failures[path] == 0


@pytest.mark.parametrize(
    "url", ["http://example.org", "http://127.0.0.1.example.org", "ftp://127.0.0.1", "x", "http://"]
)
def test_the_token_is_not_sent_in_clear_text(
    server, portal, write, login, monkeypatch, tmp_path, url
):
    monkeypatch.setenv("AWS_ENDPOINT_URL_SSO", url)
    write(profile(SESSION))
    login("my-sso")
    with pytest.raises(PermissionError, match="neither https:// nor of this machine"):
        opened(server, tmp_path, profile="train").close()


def test_codes_are_not_asked_for(server, portal, write, tmp_path):
    write(role("train", "source_profile = base", "mfa_serial = arn:mfa") + profile(KEYS, "base"))
    with pytest.raises(recmap.InvalidError, match="mfa_serial is not supported") as caught:
        opened(server, tmp_path, profile="train").close()
    assert "aws sts get-session-token" in caught.value.advice


def test_an_endpoint_of_a_profile_concerns_s3_only(tmp_path, monkeypatch):
    (tmp_path / "config").write_text("[default]\nendpoint_url = localhost:9000\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    options = {"anonymous": True, "proxy": "http://127.0.0.1:1", "timeout": 1}  # answers nothing
    for url, error in (
        ("gs://bucket/a", recmap.StorageError),
        ("s3://bucket/a", recmap.InvalidError),
    ):
        with pytest.raises(error):
            recmap.index(url, tmp_path / "a.rmx", storage=recmap.Storage(options=options))
