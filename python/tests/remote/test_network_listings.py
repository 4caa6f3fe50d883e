"""Listings of a bucket that fail, or are something else."""

from __future__ import annotations

import pytest
import recmap
from fault_proxy import (
    FOREVER,
    Request,
    check_message,
    failing,
    resizing,
)
from network_helpers import SHARD
from object_server import DIGITS_URL

pytestmark = pytest.mark.usefixtures("watchdog")


@pytest.fixture
def index(remote):
    """Built without faults."""
    return remote.index_path


def raw_page(body):
    """This body instead of a listing."""
    return resizing(lambda _: body)


def page(text):
    return f"<ListBucketResult>{text}</ListBucketResult>".encode()


FIRST_PAGE = page(f"<IsTruncated>true</IsTruncated><Contents><Key>{SHARD}</Key></Contents>")


# What a proxy, a web site or another service sends: (fault, how the error shows it).
ODD_PAGES = {
    "an error page": (raw_page(b"<!DOCTYPE html><html><br></html>"), "<!DOCTYPE html><html><br>"),
    "a page for people": (
        raw_page(b"<html>\n<body>Please sign in</body>\x1b[31m</html>"),
        r"<html>\\n<body>Please sign in</body>\\x1b\[31m</html>",
    ),
    "half a page for people": (raw_page(b"<html><p>\xe4"), r"<html><p>\\xe4"),
    "an error with the status 200": (
        raw_page(b"<Error><Code>SlowDown</Code></Error>"),
        "<Error><Code>SlowDown",
    ),
    "a listing of Azure": (raw_page(b"<EnumerationResults/>"), "<EnumerationResults/>"),
    "JSON": (raw_page(b'{"items": []}'), r'{"items": \[\]}'),
    "no text": (raw_page(b""), ""),
    "a listing with a wrong tag": (raw_page(page("<Key></key>")), "<ListBucketResult><Key></key>"),
}


# Other replies that are requested again.
PARTIAL_PAGES = {
    "a page without the token of the next one": (raw_page(FIRST_PAGE), "list is incomplete"),
    "204": (
        failing(204) | resizing(lambda _: b""),
        "neither what was requested nor an error",
    ),
}

LISTINGS = {
    "the same page again": (
        raw_page(page("<NextContinuationToken>x</NextContinuationToken>")),
        "list cannot be understood",
    ),
    **{
        name: (fault, f"(?s){message}.*after 3 attempts.*name the shards instead of a pattern")
        for name, (fault, message) in PARTIAL_PAGES.items()
    },
    "a page that is always cut": (
        raw_page(b"<ListBucketResult><Contents><Key>di"),
        "the reply ended early.*, after .* attempts",
    ),
    "403": (failing(403, "AccessDenied"), r"cannot list the objects.*HTTP 403 AccessDenied"),
    "404": (
        failing(404, "NoSuchBucket"),
        r"cannot list the objects: there is no such bucket.*HTTP 404 NoSuchBucket",
    ),
    "always 500": (failing(500, "InternalError"), r"HTTP 500 InternalError.*after .* attempts"),
}


@pytest.mark.parametrize("name", LISTINGS)
def test_a_listing_that_fails_is_an_error(proxy, tmp_path, scratch, name):
    fault, message = LISTINGS[name]
    proxy.plan(fault, FOREVER, Request.is_listing)
    with pytest.raises(recmap.StorageError, match=message) as caught:
        recmap.open(
            DIGITS_URL,
            index=tmp_path / "b.rmx",
            storage=recmap.Storage(options=proxy.options(timeout=1)),
        )
    check_message(caught.value)
    assert caught.value.path == DIGITS_URL
    assert list(tmp_path.glob("b.rmx*")) == []
    if name in PARTIAL_PAGES:
        assert len(proxy.requests) == 3
    elif "page" in name and "cut" not in name:
        assert len(proxy.requests) <= 2


@pytest.mark.parametrize("name", ODD_PAGES)
def test_what_is_not_a_listing_is_not_an_empty_one(proxy, tmp_path, scratch, name):
    fault, shown = ODD_PAGES[name]
    proxy.plan(fault, FOREVER, Request.is_listing)
    message = rf'list cannot be understood .*, after 3 attempts; {proxy.url}/train.* sent "{shown}'
    options = proxy.options(timeout=3600)
    with pytest.raises(recmap.StorageError, match=message) as caught:
        recmap.open(DIGITS_URL, index=tmp_path / "b.rmx", storage=recmap.Storage(options=options))
    check_message(caught.value)
    assert len(proxy.requests) == 3
    assert caught.value.path == DIGITS_URL
    assert "name the shards instead of a pattern" in caught.value.advice
    assert list(tmp_path.glob("b.rmx*")) == []


@pytest.mark.parametrize("name", {**ODD_PAGES, **PARTIAL_PAGES})
def test_what_is_not_a_listing_is_requested_again(proxy, index, tmp_path, scratch, name):
    proxy.plan({**ODD_PAGES, **PARTIAL_PAGES}[name][0], 2, Request.is_listing)
    options = {"storage": recmap.Storage(options=proxy.options())}
    recmap.index(DIGITS_URL, tmp_path / "b.rmx", id="id", **options)
    assert proxy.used() == 2
    with open(index, "rb") as one, open(tmp_path / "b.rmx", "rb") as other:
        assert one.read() == other.read()
