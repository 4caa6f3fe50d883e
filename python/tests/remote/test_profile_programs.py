"""Profiles whose credentials a program prints, and those that only the tools of AWS can use."""

import json
import os
import shlex
import signal
import stat
import threading
import time
from datetime import UTC, datetime, timedelta

import pytest
import recmap
from real_servers import NAMES
from role_server import keys_of, opened

KEYS = "aws_access_key_id = SOURCE\naws_secret_access_key = SOURCE-HIDDEN\n"
ROLE = "role_arn = arn:aws:iam::1:role/reader\nsource_profile = default\n"
SSO = "sso_session = my-sso\nsso_account_id = 123456789012\nsso_role_name = reader\n"


@pytest.fixture
def write(server, tmp_path, monkeypatch):
    """Writes the files of AWS."""

    def write(config, credentials=""):
        (tmp_path / ".aws").mkdir(exist_ok=True)
        (tmp_path / ".aws" / "config").write_text(config)
        (tmp_path / ".aws" / "credentials").write_text(credentials)

    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("AWS_CONFIG_FILE")
    monkeypatch.delenv("AWS_SHARED_CREDENTIALS_FILE")
    return write


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


def check_reads(server, tmp_path, key, **options):
    with opened(server, tmp_path, **options) as ds:
        assert len(bytes(ds[5])) > 0
        assert "HIDDEN" not in repr(ds) + repr(ds._options)
    assert b"HIDDEN" not in (tmp_path / "a.rmx").read_bytes()
    assert set(keys_of(server)) == {key}
    assert {headers["X-Amz-Security-Token"] for _, headers in server.requests} == {"HIDDEN-token=="}


# ---- Programs.


def test_a_program_prints_credentials(server, write, program, tmp_path):
    script = f'echo "$# $1 $2" > "{tmp_path}/arguments"; echo ERROR-HIDDEN >&2; ' + printed()
    write(profile(f"credential_process = {program(script)} --for \"a  $HOME '*' ;x\""))
    check_reads(server, tmp_path, "PROGRAM", profile="train")
    assert (tmp_path / "arguments").read_text() == "2 --for a  $HOME '*' ;x\n"


def test_credentials_that_do_not_expire(server, write, program, tmp_path):
    script = f'echo x >> "{tmp_path}/runs"; ' + printed(SessionToken=None, Expiration=None)
    write(profile(f"credential_process = {program(script)}"))
    for _ in range(2):
        with opened(server, tmp_path, profile="train") as ds:
            assert len(bytes(ds[5])) > 0
    assert set(keys_of(server)) == {"PROGRAM"}
    assert {headers["X-Amz-Security-Token"] for _, headers in server.requests} == {None}
    assert (tmp_path / "runs").read_text() == "x\n"


def test_credentials_of_a_program_are_renewed(server, write, program, tmp_path):
    """Before they expire, for all data sets at once."""
    soon = (datetime.now(UTC) + timedelta(seconds=4)).isoformat()
    write(profile(f"credential_process = {program(printed(Expiration=soon))}"))
    with (
        opened(server, tmp_path, profile="train") as one,
        opened(server, tmp_path, profile="train") as two,
    ):
        bytes(one[0])
        bytes(two[0])
        script = f'echo x >> "{tmp_path}/runs"; ' + printed(AccessKeyId="LATER")
        program(script)
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
    server, write, program, tmp_path
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
        ('echo \'{"token": "HIDDEN"}\'', "it prints no keys"),
        (printed(Expiration="tomorrow"), "its output cannot be understood"),
        (printed(Expiration="2001-01-01T00:00:00Z"), "what it printed has expired"),
        ("exec cat", "its output cannot be understood"),
    ],
)
def test_programs_that_fail(server, write, program, tmp_path, script, message):
    """No other identity is used instead, and the output is in no message."""
    write(profile(f"credential_process = {program(script)} ARGUMENT-HIDDEN"))
    with pytest.raises(
        recmap.StorageError, match="no credentials from the credential_process"
    ) as e:
        opened(server, tmp_path, profile="train").close()
    assert message in str(e.value) and 'profile "train"' in str(e.value)
    assert "HIDDEN" not in str(e.value) and e.value.advice
    assert e.value.path.endswith("my tools/issue")
    assert server.requests == []


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("/does/not/exist", "it cannot be run: No such file or directory"),
        ("/", "it cannot be run: Permission denied"),
    ],
)
def test_programs_that_cannot_be_run(server, write, tmp_path, command, message):
    write(profile(f"credential_process = {command} HIDDEN"))
    with pytest.raises(recmap.StorageError, match=message) as caught:
        opened(server, tmp_path, profile="train").close()
    assert "HIDDEN" not in str(caught.value)


@pytest.mark.parametrize("command", ['"x', "'x", "x\\", '""', "x " * 300, "x" * 5000])
def test_commands_that_cannot_be_split(server, write, tmp_path, command):
    write(profile(f"credential_process = {command}"))
    with pytest.raises(
        recmap.InvalidError, match=r'the profile "train" is (not a command|too long)'
    ):
        opened(server, tmp_path, profile="train").close()


def test_a_program_is_interrupted(server, write, program, tmp_path):
    """Ctrl-C also ends the program."""
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


def test_the_default_profile_may_have_a_program(server, write, program, monkeypatch, tmp_path):
    """It comes after keys of the environment."""
    write(f"[default]\ncredential_process = {program(printed())}\n")
    check_reads(server, tmp_path, "PROGRAM")
    server.requests.clear()
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "ENVIRONMENT")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s")
    with opened(server, tmp_path) as ds:
        bytes(ds[5])
    assert set(keys_of(server)) == {"ENVIRONMENT"}


@pytest.mark.parametrize("place", ["config", "credentials"])
def test_keys_and_a_program(server, write, program, tmp_path, place):
    """As for the tools of AWS, keys in the first file come before a program."""
    command = f"credential_process = {program(printed(SessionToken=None))}\n"
    keys = f"[train]\n{KEYS}" if place == "credentials" else ""
    write(profile(command + (KEYS if place == "config" else "")), keys)
    with opened(server, tmp_path, profile="train") as ds:
        bytes(ds[5])
    assert set(keys_of(server)) == {"PROGRAM" if place == "config" else "SOURCE"}


def test_threads_wait_for_the_first_credentials(server, write, program, tmp_path):
    """Also threads of several data sets."""
    script = f'echo x >> "{tmp_path}/runs"; sleep 0.2; ' + printed()
    write(profile(f"credential_process = {program(script)}"))
    index = opened(server, tmp_path, key="mine", secret="s").index_path
    options = {"endpoint": server.url, "timeout": 20, "profile": "train"}
    sets = [
        recmap.open(index, storage=recmap.Storage(allow_urls=True, options=options))
        for _ in range(3)
    ]
    assert not (tmp_path / "runs").exists()
    results = []
    threads = [
        threading.Thread(target=lambda i=i: results.append(bytes(sets[i % 3][i]))) for i in range(9)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 9 and (tmp_path / "runs").read_text() == "x\n"


@pytest.mark.parametrize("passes", ["option", "callable"])
def test_a_token_for_google_and_a_profile_for_amazon(
    server, write, program, passes, local, tmp_path
):
    """Each store gets its own, however often both are read."""
    write(profile(f"credential_process = {program(printed())}"))
    urls = [
        f"{scheme}://train/{name}" for scheme, name in zip(("s3", "gs") * 2, NAMES, strict=True)
    ]
    options = {"endpoint": server.url, "timeout": 20, "profile": "train"}
    token = {"token": "HIDDEN-of-google"}
    provide = (lambda: token) if passes == "callable" else None
    if passes == "option":
        options |= token
    storage = recmap.Storage(options=options, credentials=provide)
    path = tmp_path / "both.rmx"
    with recmap.open(urls, index=path, storage=storage) as ds:
        for numbers in (range(0, 1797, 50), range(10, 1797, 300)):
            assert [bytes(record) for record in ds.gather(numbers)] == [
                bytes(record) for record in local.gather(numbers)
            ]
    for path, headers in server.requests:
        if NAMES.index(path.rpartition("/")[2]) % 2:
            assert headers["Authorization"] == "Bearer HIDDEN-of-google"
        else:
            assert "Credential=PROGRAM/" in headers["Authorization"]
            assert headers["X-Amz-Security-Token"] == "HIDDEN-token=="
    assert {path.rpartition("/")[2] for path, _ in server.requests} == set(NAMES)


def test_a_program_of_a_profile_is_for_amazon_only(server, write, program, tmp_path):
    write(profile(f"credential_process = {program('exit 1')}", "train") + f"[default]\n{KEYS}")
    options = {"endpoint": server.url, "timeout": 20, "profile": "train"}
    az = recmap.open(
        "az://train/*", index=tmp_path / "a.rmx", storage=recmap.Storage(options=options)
    )
    assert len(bytes(az[5])) > 0
    with pytest.raises(recmap.InvalidError, match="no credentials are configured"):
        recmap.open(
            "gs://train/*", index=tmp_path / "b.rmx", storage=recmap.Storage(options=options)
        )


def test_explicit_keys_and_anonymous_access_run_no_program(server, write, program, tmp_path):
    write(profile(f"credential_process = {program('exit 1')}"))
    with opened(server, tmp_path, profile="train", key="mine", secret="s") as ds:
        assert keys_of(server)[-1] == "mine" and len(ds) == 1797
    with opened(server, tmp_path, profile="train", anonymous=True) as ds:
        assert keys_of(server)[-1] is None and len(ds) == 1797


def test_a_named_profile_is_not_replaced_by_another(server, write, tmp_path):
    write(profile("region = eu-west-1", "other") + f"[default]\n{KEYS}")
    with pytest.raises(recmap.InvalidError, match="no credentials are configured"):
        opened(server, tmp_path, profile="other")
    assert server.requests == []


# ---- Profiles for the tools of AWS.

OTHERS = [
    ROLE,
    SSO,
    SSO.partition("\n")[0],
    "sso_start_url = https://my-sso.awsapps.com/start",
    ROLE + KEYS,
    ROLE + "credential_process = false",
    SSO + "credential_process = false",
]


@pytest.mark.parametrize("text", OTHERS)
def test_a_role_or_sso_gives_the_line(server, write, monkeypatch, tmp_path, text):
    """No other identity is used instead, and the line works."""
    name = f"my {tmp_path.name}"  # a process runs the same line once
    write(profile(text, name) + f"[default]\n{KEYS}")
    with pytest.raises(recmap.InvalidError, match=f'profile "{name}" has a role or') as caught:
        opened(server, tmp_path, profile=name)
    assert "`pip install recmap[aws]`" in caught.value.advice
    assert server.requests == []
    _, _, rest = caught.value.advice.partition("RECMAP_CREDENTIAL_PROCESS to `")
    tool = tmp_path / "bin" / "aws"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\necho "$@" > "{tmp_path}/arguments"\n{printed()}\n')
    tool.chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", str(tool.parent), prepend=":")
    monkeypatch.setenv("RECMAP_CREDENTIAL_PROCESS", rest.partition("`")[0])
    check_reads(server, tmp_path, "PROGRAM")
    said = (tmp_path / "arguments").read_text()
    assert said == f"configure export-credentials --profile {name} --format process\n"


@pytest.mark.parametrize("place", ["default", "environment"])
def test_a_role_matters_only_without_other_access(server, write, place, monkeypatch, tmp_path):
    if place == "environment":
        monkeypatch.setenv("AWS_PROFILE", "train")
    write(profile(ROLE, "train") if place == "environment" else f"[default]\n{ROLE}")
    with pytest.raises(recmap.InvalidError, match="has a role or SSO"):
        opened(server, tmp_path)
    with opened(server, tmp_path, key="mine", secret="s") as ds:
        bytes(ds[5])
    with opened(server, tmp_path, anonymous=True) as ds:
        bytes(ds[5])
    assert set(keys_of(server)) == {"mine", None}
    options = {"endpoint": server.url, "timeout": 20, "token": "t"}
    recmap.open("gs://train/*", index=tmp_path / "b.rmx", storage=recmap.Storage(options=options))
    recmap.open(f"{server.url}/train/digits@4.tfrecord", index=tmp_path / "c.rmx")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "ENVIRONMENT")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s")
    server.requests.clear()
    with opened(server, tmp_path) as ds:
        bytes(ds[5])
    assert set(keys_of(server)) == {"ENVIRONMENT"}


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
