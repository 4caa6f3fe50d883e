"""Profiles with a role_arn: STS issues the credentials, for those of another profile or service."""

import hashlib
import hmac
import time
from urllib.parse import parse_qs

import pytest
import recmap
from role_server import RoleServer, keys_of, opened

ARN = "arn:aws:iam::1:role/a b"
SECRETS = {"SOURCE": "SOURCE-HIDDEN", "ENVIRONMENT": "ENVIRONMENT-HIDDEN"}  # others were issued
KEYS = "aws_access_key_id = SOURCE\naws_secret_access_key = SOURCE-HIDDEN\n"


@pytest.fixture
def sts(server, monkeypatch):
    with RoleServer() as sts:
        monkeypatch.setenv("AWS_ENDPOINT_URL_STS", sts.url)
        yield sts


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Writes the files of AWS."""

    def write(config, credentials=""):
        for name, variable, text in (
            ("config", "AWS_CONFIG_FILE", config),
            ("credentials", "AWS_SHARED_CREDENTIALS_FILE", credentials),
        ):
            (tmp_path / name).write_text(text)
            monkeypatch.setenv(variable, str(tmp_path / name))

    return write


def role(name, source, *lines, arn=ARN):
    """The section of a profile. `source` is `source_profile=...` or `credential_source=...`."""
    return "\n".join([f"[profile {name}]", f"role_arn = {arn}", source, *lines, ""])


def form_of(request):
    return {name: values[0] for name, values in parse_qs(request[3]).items()}


def check_signature(request, key, region="us-east-1"):
    """What AWS documents, not recmap, computes the signature."""
    method, path, headers, body = request
    algorithm, _, rest = headers["Authorization"].partition(" ")
    fields = dict(part.split("=", 1) for part in rest.split(","))
    scope = fields["Credential"].partition("/")[2]
    date = headers["X-Amz-Date"]
    assert fields["Credential"] == f"{key}/{date[:8]}/{region}/sts/aws4_request"
    names = fields["SignedHeaders"].split(";")
    assert {"content-type", "host", "x-amz-date"} <= set(names) and names == sorted(names)
    assert ("x-amz-security-token" in names) == (headers["X-Amz-Security-Token"] is not None)
    hashed = hashlib.sha256(body.encode()).hexdigest()
    lines = [f"{name}:{headers[name]}" for name in names]
    text = "\n".join([method, path, "", *lines, "", fields["SignedHeaders"], hashed])
    digest = f"AWS4{SECRETS.get(key, 'HIDDEN/secret+1')}".encode()
    signed = f"{algorithm}\n{date}\n{scope}\n{hashlib.sha256(text.encode()).hexdigest()}"
    for part in (*scope.split("/"), signed):
        digest = hmac.digest(digest, part.encode(), "sha256")
    assert fields["Signature"] == digest.hex()


def check_reads(server, tmp_path, key, **options):
    with opened(server, tmp_path, **options) as ds:
        assert len(bytes(ds[5])) > 0
        assert "HIDDEN" not in repr(ds) + repr(ds._options)
    assert b"HIDDEN" not in (tmp_path / "a.rmx").read_bytes()
    assert set(keys_of(server)) == {key}
    assert {headers["X-Amz-Security-Token"] for _, headers in server.requests} == {"HIDDEN-token=="}


def test_a_role_is_assumed_with_the_keys_of_another_profile(server, sts, write, tmp_path):
    settings = (
        "external_id = partner=7&8",
        "role_session_name = me@example.org",
        "duration_seconds = 1800",
        "region = eu-west-1",
    )
    write(role("train", "source_profile = base", *settings) + "[profile base]\n" + KEYS)
    check_reads(server, tmp_path, "ROLE1", profile="train")
    (request,) = sts.requests
    assert form_of(request) == {
        "Action": "AssumeRole",
        "Version": "2011-06-15",
        "RoleArn": ARN,
        "ExternalId": "partner=7&8",
        "RoleSessionName": "me@example.org",
        "DurationSeconds": "1800",
    }
    check_signature(request, "SOURCE", "eu-west-1")
    assert request[2]["X-Amz-Security-Token"] is None


def test_the_source_may_be_in_the_file_of_credentials(server, sts, write, tmp_path):
    """Its token is sent, too. Keys and tokens of the two files are not combined."""
    write(
        role("train", "source_profile = base") + "[profile base]\naws_session_token = wrong\n",
        f"[base]\n{KEYS}aws_session_token = BASE-HIDDEN\n",
    )
    check_reads(server, tmp_path, "ROLE1", profile="train")
    (request,) = sts.requests
    assert request[2]["X-Amz-Security-Token"] == "BASE-HIDDEN"
    check_signature(request, "SOURCE")
    assert form_of(request)["RoleSessionName"] == "recmap"


def test_a_profile_may_be_its_own_source(server, sts, write, tmp_path):
    write(role("train", "source_profile = train"), f"[train]\n{KEYS}")
    check_reads(server, tmp_path, "ROLE1", profile="train")
    check_signature(sts.requests[0], "SOURCE")


def test_roles_are_assumed_one_with_the_other(server, sts, write, tmp_path, monkeypatch):
    monkeypatch.setenv("AWS_ROLE_SESSION_NAME", "job-7")
    write(
        role("train", "source_profile = middle", arn="arn:last")
        + role("middle", "source_profile = base", arn="arn:first")
        + f"[profile base]\n{KEYS}"
    )
    check_reads(server, tmp_path, "ROLE2", profile="train")
    first, last = sts.requests
    assert form_of(first)["RoleArn"] == "arn:first" and form_of(last)["RoleArn"] == "arn:last"
    assert form_of(last)["RoleSessionName"] == "job-7"
    check_signature(first, "SOURCE")
    check_signature(last, "ROLE1")
    assert last[2]["X-Amz-Security-Token"] == "HIDDEN-token=="


def chain(prefix, count):
    """Profiles PREFIX0, PREFIX1 and so on, each the source of the preceding one."""
    sections = [role(f"{prefix}{i}", f"source_profile = {prefix}{i + 1}") for i in range(count)]
    return "".join(sections) + f"[profile {prefix}{count}]\n{KEYS}"


def test_the_longest_chain(server, sts, write, tmp_path):
    write(chain("a", 5) + chain("b", 6))
    check_reads(server, tmp_path, "ROLE5", profile="a0")
    assert len(sts.requests) == 5
    with pytest.raises(recmap.InvalidError, match=r'"b4".* more than 5 roles'):
        opened(server, tmp_path, profile="b0")[0]
    assert len(sts.requests) == 5


# ---- Services as sources.


def test_keys_of_the_environment(server, sts, write, tmp_path, monkeypatch):
    write(role("train", "credential_source = environment"))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "ENVIRONMENT")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "ENVIRONMENT-HIDDEN")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "SESSION-HIDDEN")
    check_reads(server, tmp_path, "ROLE1", profile="train")
    check_signature(sts.requests[0], "ENVIRONMENT")
    assert sts.requests[0][2]["X-Amz-Security-Token"] == "SESSION-HIDDEN"
    server.requests.clear()
    monkeypatch.setenv("AWS_PROFILE", "train")  # does not replace keys of the environment
    with opened(server, tmp_path) as ds:
        bytes(ds[5])
    assert set(keys_of(server)) == {"ENVIRONMENT"} and len(sts.requests) == 1


def test_the_role_of_a_machine(server, sts, write, tmp_path, monkeypatch):
    write(role("train", "credential_source = Ec2InstanceMetadata"))
    monkeypatch.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", sts.url)
    monkeypatch.delenv("AWS_EC2_METADATA_DISABLED")
    check_reads(server, tmp_path, "ROLE2", profile="train")
    check_signature(sts.requests[-1], "ROLE1")


def test_the_role_of_a_container(server, sts, write, tmp_path, monkeypatch):
    write(role("train", "credential_source = EcsContainer"))
    monkeypatch.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", sts.url + "/container")
    monkeypatch.setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN", "POD-HIDDEN")
    check_reads(server, tmp_path, "ROLE2", profile="train")
    check_signature(sts.requests[-1], "ROLE1")


# ---- Which profile.


@pytest.mark.parametrize("own_keys", ["", KEYS])
def test_the_default_profile_may_have_a_role(server, sts, write, tmp_path, own_keys, monkeypatch):
    """It comes before its own keys, and before the services of the environment."""
    monkeypatch.setenv("AWS_WEB_IDENTITY_TOKEN_FILE", "/does/not/exist")
    monkeypatch.setenv("AWS_ROLE_ARN", "arn:other")
    section = role("default", "source_profile = base").replace("profile default", "default")
    write(section + own_keys + f"[profile base]\n{KEYS}")
    check_reads(server, tmp_path, "ROLE1")
    assert form_of(sts.requests[0])["RoleArn"] == ARN


def test_a_profile_of_the_environment(server, sts, write, tmp_path, monkeypatch):
    write(role("train", "source_profile = base") + f"[profile base]\n{KEYS}")
    monkeypatch.setenv("AWS_PROFILE", "train")
    check_reads(server, tmp_path, "ROLE1")
    server.requests.clear()
    with opened(server, tmp_path, key="mine", secret="s") as ds:
        bytes(ds[5])
    assert set(keys_of(server)) == {"mine"} and len(sts.requests) == 1


# ---- Mistakes and failures.


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (role("p", ""), "neither source_profile nor credential_source"),
        (role("p", "source_profile=p", "credential_source=Environment"), "both source_profile"),
        (role("p", "source_profile=none"), 'no profile "none"'),
        (role("p", "source_profile=p"), 'leads back to "p"'),
        (
            role("p", "source_profile=q")
            + role("q", "source_profile=r")
            + role("r", "source_profile=q"),
            '"r".* leads back to "q"',
        ),
        (role("p", "source_profile=q") + "[profile q]\nregion=x\n", "neither keys nor a role_arn"),
        (role("p", "source_profile=q") + "[profile q]\naws_access_key_id=K\n", "not usable"),
        (
            role("p", "source_profile=q")
            + "[profile q]\naws_access_key_id=K\naws_secret_access_key=HIDDEN \x01\n",
            "not usable",
        ),
        (role("p", "source_profile=" + "q" * 200), "name of its source is too long"),
        (role("p", "credential_source=Vault"), "credential_source is unknown"),
        (role("p", "credential_source=Environment"), "environment has no usable keys"),
        (role("p", "credential_source=EcsContainer"), "names no endpoint of a container"),
        (role("p", "credential_source=Ec2InstanceMetadata"), "no instance metadata service"),
        (role("p", "source_profile=p", "mfa_serial=arn:mfa") + KEYS, "mfa_serial is not supported"),
        (role("p", "web_identity_token_file=/x"), "web_identity_token_file is not supported"),
        (role("p", "source_profile=p", "duration_seconds=60") + KEYS, "from 900 to 43200"),
        (role("p", "source_profile=p", "duration_seconds=1e3") + KEYS, "from 900 to 43200"),
        (role("p", "source_profile=p", "external_id=" + "x" * 3000) + KEYS, "too long"),
    ],
)
def test_profiles_that_cannot_be_used(server, sts, write, tmp_path, config, message):
    """No other identity is used instead."""
    write(config)
    with pytest.raises(recmap.InvalidError, match=message) as caught:
        opened(server, tmp_path, profile="p").close()
    assert 'profile "' in str(caught.value) and "HIDDEN" not in str(caught.value)
    assert caught.value.advice
    assert server.requests == [] and sts.requests == []


def test_sts_refuses(server, sts, write, tmp_path):
    sts.answers["/"] = (403, "<Error><Code>AccessDenied</Code><X>SOURCE-HIDDEN</X></Error>")
    write(role("train", "source_profile = base") + f"[profile base]\n{KEYS}")
    match = 'no credentials from STS for the profile "train": it answers HTTP 403 AccessDenied'
    with pytest.raises(PermissionError, match=match) as caught:
        opened(server, tmp_path, profile="train").close()
    assert "HIDDEN" not in str(caught.value) and server.requests == []
    assert len(sts.requests) <= 2  # once for each storage: nothing is repeated


@pytest.mark.parametrize("body", ["", "<a></a>", "x" * 100_000, b"\xff\0\xff"])
def test_replies_of_sts_that_are_not_credentials(server, sts, write, tmp_path, body):
    sts.answers["/"] = (200, body)
    write(role("train", "source_profile = base") + f"[profile base]\n{KEYS}")
    with pytest.raises(recmap.StorageError, match="no credentials from STS for the profile"):
        opened(server, tmp_path, profile="train").close()
    assert server.requests == []


def test_sts_that_fails_for_a_moment_is_asked_again(server, sts, write, tmp_path):
    sts.failures["/"] = 2
    write(role("train", "source_profile = base") + f"[profile base]\n{KEYS}")
    check_reads(server, tmp_path, "ROLE1", profile="train")
    check_signature(sts.requests[-1], "SOURCE")


@pytest.mark.parametrize(
    "url", ["ftp://127.0.0.1/", "http://127.0.0.1/?a=b", "127.0.0.1", "http:///"]
)
def test_addresses_of_sts_that_cannot_be_used(server, sts, write, tmp_path, url, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL_STS", url)
    write(role("train", "source_profile = base") + f"[profile base]\n{KEYS}")
    with pytest.raises(recmap.StorageError, match="cannot be signed"):
        opened(server, tmp_path, profile="train").close()


def test_a_process_assumes_a_role_once_and_renews_it_once(server, sts, write, tmp_path):
    """The files are read again then."""
    write(role("train", "source_profile = base") + f"[profile base]\n{KEYS}")
    sts.seconds = 3.0
    with (
        opened(server, tmp_path, profile="train") as one,
        opened(server, tmp_path, profile="train") as two,
    ):
        bytes(one[0])
        bytes(two[0])
        before = sts.count
        sts.seconds = 3600.0
        text = (tmp_path / "config").read_text()
        (tmp_path / "config").write_text(text.replace("= SOURCE\n", "= ENVIRONMENT\n"))
        deadline = time.monotonic() + 30
        while sts.count == before and time.monotonic() < deadline:
            bytes(one[1])
            time.sleep(0.05)
        assert sts.count == before + 1
        assert "Credential=ENVIRONMENT/" in sts.requests[-1][2]["Authorization"]
        server.requests.clear()
        bytes(one[2])
        bytes(two[2])
        assert set(keys_of(server)) == {f"ROLE{before + 1}"}
        assert sts.count == before + 1
    with opened(server, tmp_path, profile="train") as ds:
        bytes(ds[3])
    assert sts.count == before + 1
