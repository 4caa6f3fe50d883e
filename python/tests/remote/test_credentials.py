"""Credentials that a callable provides."""

import asyncio
import math
import multiprocessing
import os
import pickle
import threading
import time
import warnings
from datetime import UTC, datetime, timedelta

import pytest
import recmap
from object_server import DIGITS_URL
from recmap import _recmap
from recmap._options import credentials


class Provider:
    """Returns KEY1, KEY2 and so on, each for the given number of seconds."""

    def __init__(self, seconds=None):
        self.seconds = seconds
        self.count = 0

    def __call__(self):
        self.count += 1
        answer = {"key": f"KEY{self.count}", "secret": "hidden-secret", "token": "hidden-token"}
        if self.seconds is not None:
            answer["expires"] = time.time() + self.seconds
        return answer


def keys_of(server):
    """The keys that the requests were signed with."""
    signed = [headers["Authorization"] or "" for _, headers in server.requests]
    return [text.partition("Credential=")[2].partition("/")[0] for text in signed]


def pandas_nat():
    """A datetime whose timestamp is NaN, as pandas.NaT's is."""

    class NaT(datetime):
        def timestamp(self):
            return math.nan

    return NaT(2026, 1, 1, tzinfo=UTC)


def storage(server):
    return {"endpoint": server.url, "timeout": 20}


def opened(server, folder, provide, **more):
    index = folder / "a.rmx"
    options = {**storage(server), **more}
    return recmap.open(
        DIGITS_URL, index=index, storage=recmap.Storage(options=options, credentials=provide)
    )


def wait_until(is_done):
    deadline = time.monotonic() + 30
    while not is_done():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_data_sets_share_the_answer_of_a_callable(server, tmp_path):
    provide = Provider(seconds=3600)
    with opened(server, tmp_path, provide) as ds, opened(server, tmp_path, provide) as again:
        assert bytes(ds[5]) == bytes(again[5])
        assert provide.count == 1
        copy = pickle.loads(pickle.dumps(ds))  # has a copy of the callable
        server.requests.clear()
        assert bytes(copy[6]) == bytes(ds[6])
        assert sorted(keys_of(server)) == ["KEY1", "KEY2"]


def test_every_request_is_signed(server, tmp_path):
    with opened(server, tmp_path, Provider()) as ds:
        assert len(bytes(ds[5])) > 0
    assert all(key.startswith("KEY") for key in keys_of(server))
    assert all(headers["x-amz-security-token"] == "hidden-token" for _, headers in server.requests)


def test_credentials_are_renewed_before_they_expire(server, tmp_path):
    provide = Provider(seconds=1.5)
    with opened(server, tmp_path, provide) as ds:
        expected = bytes(ds[5])
        wait_until(lambda: provide.count >= 3)
        server.requests.clear()
        assert bytes(ds[5]) == expected
        assert keys_of(server)[0] not in ("KEY1", "KEY2")


@pytest.mark.parametrize(("seconds", "wait"), [(3600, 3300), (700, 400), (120, 60)])
def test_credentials_are_renewed_five_minutes_ahead(seconds, wait):
    renewer = credentials._Renewer(Provider(seconds))
    renewer.renew()
    assert renewer.renew_at - time.time() == pytest.approx(wait, abs=5)


def test_renewing_ends_with_the_data_set(server, tmp_path, monkeypatch):
    monkeypatch.setattr(credentials, "_PAUSE", 0.05)
    provide = Provider(seconds=1.5)
    with opened(server, tmp_path, provide):
        wait_until(lambda: provide.count >= 2)
        renewer = credentials._renewers[id(provide)]
    wait_until(lambda: id(provide) not in credentials._renewers)
    assert renewer.storages == [] and renewer.thread is None


def count_storages(monkeypatch):
    """Counts the storages that the renewers keep for others."""
    shared = []
    share = credentials._recmap.storage_share
    monkeypatch.setattr(
        credentials._recmap, "storage_share", lambda s: shared.append(s) or share(s)
    )
    return shared


def test_credentials_that_do_not_expire_keep_nothing(server, tmp_path, monkeypatch):
    provide, shared = Provider(), count_storages(monkeypatch)
    for _ in range(2):
        before = provide.count
        with opened(server, tmp_path, provide) as ds:
            assert provide.count > before
            assert len(bytes(ds[5])) > 0
        assert keys_of(server)[-1] == f"KEY{provide.count}"
    assert shared == [] and id(provide) not in credentials._renewers


def test_a_storage_without_a_data_set_is_renewed_while_its_owner_keeps_it(monkeypatch):
    """As while the data set is opened, which may take hours if it is indexed."""
    monkeypatch.setattr(credentials, "_PAUSE", 0.02)
    provide = Provider(seconds=1.5)
    storage = _recmap.storage_create(())
    credentials.renewed_storage(storage, provide)
    wait_until(lambda: provide.count >= 3)
    assert _recmap.storage_is_used(storage)
    del storage
    wait_until(lambda: id(provide) not in credentials._renewers)


def test_a_thread_that_ended_is_replaced(server, tmp_path):
    provide = Provider(seconds=1.5)
    with opened(server, tmp_path, provide):
        renewer = credentials._renewers[id(provide)]
        renewer.thread = threading.Thread(target=int)
        renewer.thread.start()
        renewer.thread.join()
        with opened(server, tmp_path, provide):
            assert renewer.thread.is_alive()


def test_refused_answers_are_not_kept(server, tmp_path):
    answers = [{"key": "k", "secret": "hidden\n"}, {"key": "good", "secret": "s"}]
    for answer in answers:
        answer["expires"] = time.time() + 3600

    def provide():
        return answers.pop(0) if len(answers) > 1 else answers[0]

    with pytest.raises(recmap.InvalidError, match="secret must be text"):
        opened(server, tmp_path, provide)
    assert id(provide) not in credentials._renewers
    with opened(server, tmp_path, provide) as ds:
        assert len(bytes(ds[0])) > 0
    assert keys_of(server)[-1] == "good"


def test_a_refused_renewal_leaves_the_credentials(monkeypatch):
    monkeypatch.setattr(credentials, "_PAUSE", 0.02)
    answers = [{"secret": "s", "expires": time.time() + 1}, {"secret": "hidden\n"}]
    renewer = credentials._Renewer(lambda: {"key": "k", **answers.pop(0)})
    renewer.renew()
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        renewer.try_renew()
    assert answers == [] and renewer.values["secret"] == "s"


def test_a_warning_that_is_an_error_does_not_end_renewing():
    renewer = credentials._Renewer(lambda: None)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("error")
        renewer.try_renew()
    assert "credentials() failed (TypeError)" in str(caught[0].message)


def test_a_failed_renewal_is_repeated(server, tmp_path, monkeypatch):
    monkeypatch.setattr(credentials, "_PAUSE", 0.05)
    provide = Provider(seconds=1.5)
    failures = []

    def failing():
        if provide.count == 1 and len(failures) < 2:
            failures.append(1)
            raise OSError("hidden-secret")
        return provide()

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with opened(server, tmp_path, failing) as ds:
            wait_until(lambda: provide.count >= 2)
            assert len(bytes(ds[0])) > 0
    messages = [str(each.message) for each in caught]
    assert any("credentials() failed (OSError)" in message for message in messages)
    assert "hidden-secret" not in " ".join(messages)


class Stopped(BaseException):
    pass


@pytest.mark.parametrize(
    "failure",
    [SystemExit(1), KeyboardInterrupt(), asyncio.CancelledError(), Stopped(), math.nan, -math.inf],
    ids=repr,
)
def test_renewing_survives_whatever_the_callable_does(server, tmp_path, monkeypatch, failure):
    monkeypatch.setattr(credentials, "_PAUSE", 0.05)
    provide = Provider(seconds=1.5)
    failures = []

    def failing():
        if provide.count != 1 or len(failures) == 2:
            return provide()
        failures.append(1)
        if isinstance(failure, BaseException):
            raise failure
        return {**Provider()(), "expires": failure}

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with opened(server, tmp_path, failing) as ds:
            wait_until(lambda: provide.count >= 3)
            server.requests.clear()
            assert len(bytes(ds[0])) > 0
            assert keys_of(server)[0] not in ("KEY1", "KEY2")
    name = type(failure).__name__ if isinstance(failure, BaseException) else "ValueError"
    assert len(failures) == 2
    assert f"credentials() failed ({name})" in str(caught[0].message)


def test_renewing_survives_failures_around_the_callable(server, tmp_path, monkeypatch):
    """Showing the warning fails, and so does asking which storages are used."""
    monkeypatch.setattr(credentials, "_PAUSE", 0.05)
    shown, asked = [], []
    is_used = credentials._recmap.storage_is_used

    def show(*_, **__):
        shown.append(1)
        raise SystemExit("the log is closed")

    def ask(storage):
        asked.append(1)
        if len(asked) <= 2:
            raise MemoryError
        return is_used(storage)

    monkeypatch.setattr(credentials._recmap, "storage_is_used", ask)
    monkeypatch.setattr(warnings, "warn", show)
    provide = Provider(seconds=1.5)
    with opened(server, tmp_path, provide):
        wait_until(lambda: provide.count >= 3)
    assert len(shown) == 2


@pytest.mark.parametrize("expires", [math.nan, -math.inf, pandas_nat()], ids=repr)
def test_an_end_that_is_not_a_time_is_refused(server, tmp_path, expires):
    answer = {"key": "hidden", "secret": "hidden", "expires": expires}
    with pytest.raises(ValueError, match=r"expires must be a time, not (nan|-inf)"):
        opened(server, tmp_path, lambda: answer)


def test_an_infinite_end_is_none():
    assert credentials._seconds_of(math.inf) is None


def read_in_child(ds, results):
    results.put((bytes(ds[7]), os.getpid()))


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_children_have_credentials_of_their_own(server, tmp_path, method):
    if method == "fork":
        warnings.simplefilter("ignore", DeprecationWarning)  # there is a thread
    with opened(server, tmp_path, Provider(seconds=3600)) as ds:
        context = multiprocessing.get_context(method)
        results = context.Queue()
        child = context.Process(target=read_in_child, args=(ds, results))
        child.start()
        assert results.get(timeout=60)[0] == bytes(ds[7])
        child.join(60)
        assert child.exitcode == 0


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        ({}, ValueError, "must return key and secret"),
        ({"key": "hidden"}, ValueError, "must return key and secret"),
        ({"key": "hidden", "secret": 7}, TypeError, "secret is not one"),
        ({"key": "k", "secret": "s", "expiry": 1}, ValueError, "'expiry'"),
        ({"key": "k", "secret": "hidden\n"}, recmap.InvalidError, "secret must be text"),
        ({"token": "t", "expires": object()}, TypeError, "expires must be"),
        ({"token": "t", "expires": True}, TypeError, "expires must be .* not bool"),
        ({"token": "t", "expires": -1}, ValueError, "expires must be a time, not -1"),
        ({"token": "t", "expires": 10**400}, ValueError, "expires must be a time, not 1000"),
        ("hidden", TypeError, "must return a mapping, not str"),
    ],
)
def test_wrong_answers_are_errors(server, tmp_path, answer, error, message):
    with pytest.raises(error, match=message) as caught:
        opened(server, tmp_path, lambda: answer)
    assert "hidden" not in str(caught.value)
    with pytest.raises(TypeError, match="must be a callable"):
        opened(server, tmp_path, {"key": "hidden"})


def test_an_error_of_the_callable_is_that_of_open(server, tmp_path):
    def fail():
        raise LookupError("no role")

    with pytest.raises(LookupError, match="no role"):
        opened(server, tmp_path, fail)


def test_spellings_and_times():
    soon = datetime.now(UTC) + timedelta(hours=1)
    pairs = {"AccessKeyId": "k", "SecretAccessKey": "s", "SessionToken": "t"}
    for expires in (soon, soon.isoformat(), soon.timestamp(), soon.replace(tzinfo=None)):
        values, seconds = credentials._values_of({**pairs, "Expiration": expires})
        given = {name: value for name, value in values.items() if value}
        assert given == {"key": "k", "secret": "s", "token": "t"}
        assert seconds == pytest.approx(soon.timestamp())
    assert credentials._seconds_of("2026-01-01T00:00:00Z") == 1767225600


def test_options_do_not_show_credentials(server, tmp_path):
    with opened(server, tmp_path, Provider()) as ds:
        assert "hidden" not in repr(ds) + repr(ds._options)
