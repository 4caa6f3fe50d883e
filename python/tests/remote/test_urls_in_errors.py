"""Errors show URLs without what may be a secret in them: user information, query and fragment."""

import pickle

import pytest
import recmap
from conftest import DIGITS
from object_server import unused_port
from recmap._base.errors import redacted

HOST = f"127.0.0.1:{unused_port()}"
OPTIONS = {"timeout": 1, "anonymous": True, "endpoint": f"http://{HOST}"}

URLS = [
    f"https://me:HIDDEN@{HOST}/a.tfrecord",
    f"https://HIDDEN@{HOST}/a.rmx",
    f"https://me:HIDDEN@{HOST}/a.tfrecord?x=HIDDEN#HIDDEN",
    f"https://{HOST}/a.tfrecord#HIDDEN",
    f"https://{HOST}/a.rmx#HIDDEN",
    f"https://{HOST}/a-*.tfrecord#HIDDEN",
    f"https://{HOST}/a@4#HIDDEN",
    f"http://{HOST}#HIDDEN",
    f"http://{HOST}/a b?X-Amz-Signature=HIDDEN",
    f"http://{HOST}/../a?sig=HIDDEN#HIDDEN",
    "s3://key:HIDDEN@bucket/a.tfrecord",
    "s3://bucket/a/?sv=HIDDEN",
    f"ftp://me:HIDDEN@{HOST}/a.tfrecord#HIDDEN",
    f"webhdfs://me:HIDDEN@{HOST}/a.tfrecord",
]


def open_list(url, folder):
    (folder / "list.txt").write_text(f"{url}\n")
    recmap.open(
        f"@{folder}/list.txt", index=folder / "x.rmx", storage=recmap.Storage(options=OPTIONS)
    )


def open_with(url, folder, **options):
    name = f"https://{HOST}/x.tfrecord"
    recmap.open(
        name, index=folder / "x.rmx", storage=recmap.Storage(options={"timeout": 1, **options})
    )


CALLS = {
    "open": lambda url, folder: recmap.open(url, storage=recmap.Storage(options=OPTIONS)),
    "index": lambda url, folder: recmap.index(
        url, folder / "x.rmx", storage=recmap.Storage(options=OPTIONS)
    ),
    "list": open_list,
    "index=": lambda url, folder: recmap.open(DIGITS, index=url),
    "output": lambda url, folder: recmap.index(DIGITS, url),
    "Writer": lambda url, folder: recmap.Writer(url),
    "merge": lambda url, folder: recmap.merge(folder / "m.rmx", [url]),
    "from_idx": lambda url, folder: recmap.index(DIGITS, folder / "x.rmx", from_idx=url),
    "urls": lambda url, folder: open_with(url, folder, urls=[url]),
    "proxy": lambda url, folder: open_with(url, folder, proxy=url),
    "endpoint": lambda url, folder: recmap.open(
        "s3://b/x", storage=recmap.Storage(options={"endpoint": url})
    ),
}


@pytest.mark.parametrize("call", CALLS)
def test_no_error_shows_a_secret(tmp_path, monkeypatch, call):
    monkeypatch.chdir(tmp_path)
    urls = URLS[:1] + URLS[3:4] + URLS[8:9] if call in ("proxy", "urls") else URLS
    for url in urls:
        with pytest.raises((recmap.Error, ValueError, OSError, ImportError)) as caught:
            CALLS[call](url, tmp_path)
        error = caught.value
        shown = f"{error} {error!r} {getattr(error, 'path', '')} {getattr(error, 'advice', '')}"
        assert "HIDDEN" not in shown, url
        assert b"HIDDEN" not in pickle.dumps(error), url


def test_names_of_objects_are_shown_whole():
    """Keys may have `#` in their names."""
    url = "s3://bucket/part#1.tfrecord"
    with pytest.raises(recmap.StorageError) as caught:
        recmap.open(url, storage=recmap.Storage(options=OPTIONS))
    assert caught.value.path == url


def test_the_rule_in_python_is_that_of_the_library():
    for url, expected in {
        "https://me:secret@host/a?b#c": "https://host/a?...",
        "https://host/a#b": "https://host/a#...",
        "https://host/a@4": "https://host/a@4",
        "https://host": "https://host",
        "/a/b?c#d": "/a/b?c#d",
        "a b://c?d": "a b://c?d",
    }.items():
        assert redacted(url) == expected
