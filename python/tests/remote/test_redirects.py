# ruff: noqa: RUF001
"""Redirects and hosts that are not read, whatever a proxy would do."""

import pytest
import recmap

# 169.254.169.254, as various readers of URLs understand it.
PLAIN_SPELLINGS = [
    "169.254.169.254",
    "2852039166",
    "0xa9fea9fe",
    "0XA9FEA9FE",
    "025177524776",
    "0251.0376.0251.0376",
    "0xa9.0xfe.0xa9.0xfe",
    "169.16689918",
    "169.254.43518",
    "169.254.169.254.",
    "169.254.169.254..",
    "2852039166.",
    "0169.254.169.254",
    "7147006462",
    "[::ffff:169.254.169.254]",
    "[::ffff:a9fe:a9fe]",
    "[0:0:0:0:0:FFFF:A9FE:A9FE]",
    "[::a9fe:a9fe]",
    "[64:ff9b::a9fe:a9fe]",
    "[64:ff9b:1::a9fe:a9fe]",
    "[2002:a9fe:a9fe::]",
]
OTHER_SPELLINGS = [
    "%31%36%39.254.169.254",
    "169%2e254%2e169%2e254",
    "１６９.２５４.１６９.２５４",
    "２８５２０３９１６６",
    "０ｘａ９ｆｅａ９ｆｅ",
    "①⑥⑨.254.169.254",
    "169。254。169。254",
    "169．254．169．254",
    "169｡254｡169｡254",
    "169.254.169.254。",
    "169.254.169\u00ad.254",
    "169.254.169.254\u200b",
    "[fe80::a9fe:a9fe%25eth0]",
    "[fe80::a9fe:a9fe]",
]
HOSTS = [*PLAIN_SPELLINGS, *OTHER_SPELLINGS]


def read_through(proxy, url, folder):
    recmap.open(
        url,
        index=folder / "a.rmx",
        storage=recmap.Storage(options={"proxy": proxy.url, "timeout": 1}),
    )


@pytest.mark.parametrize(
    "location", ["//u@2852039166:80/x", *(f"http://{host}/x" for host in HOSTS)]
)
def test_a_proxy_is_not_asked_for_redirects_to_link_local_addresses(server, tmp_path, location):
    def redirect(handler):
        handler.answer(302, Location=location.encode().decode("latin-1"))
        return True

    server.faults = [redirect] * 10
    with pytest.raises(PermissionError, match="redirects to an address that is not read") as error:
        read_through(server, "http://shards.test/x.tfrecord", tmp_path)
    assert "link-local" in str(error.value)
    assert [path for path, _ in server.requests] == ["http://shards.test/x.tfrecord"]


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("port", ["", ":80"])
def test_a_proxy_is_not_asked_for_link_local_addresses(server, tmp_path, host, port):
    with pytest.raises((PermissionError, recmap.InvalidError)) as error:
        read_through(server, f"http://{host}{port}/x.tfrecord", tmp_path)
    assert "host" in str(error.value)
    assert server.requests == []


@pytest.mark.parametrize(
    "host", ["shards.test", "shards.test.", "a_b.test:81", "10.9.8.7", "[fd00::7]"]
)
def test_a_proxy_is_asked_for_other_hosts(server, tmp_path, host):
    def refuse(handler):
        handler.answer(404)
        return True

    server.faults = [refuse] * 10
    with pytest.raises(FileNotFoundError):
        read_through(server, f"http://{host}/x.tfrecord", tmp_path)
    assert server.requests[0][0] == f"http://{host}/x.tfrecord"


def test_an_endpoint_is_checked(server, tmp_path):
    options = {"proxy": server.url, "endpoint": "http://169.254.169.254.", "anonymous": "true"}
    with pytest.raises(PermissionError, match="plain address"):
        recmap.open(
            "s3://bucket/x", index=tmp_path / "a.rmx", storage=recmap.Storage(options=options)
        )
    assert server.requests == []
