"""Credentials that a callable provides, renewed before they expire."""

from __future__ import annotations

import contextlib
import math
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, TypeAlias

from .. import _recmap

__all__ = ["Credentials", "renewed_storage"]

Credentials: TypeAlias = "Callable[[], Mapping[str, Any]]"

# Seconds: how long before their end credentials are renewed; after which time a failed renewal is
# repeated, and storages that nothing uses any more are noticed.
_AHEAD = 300.0
_PAUSE = 30.0
_EXPIRES_MAX = 1e15  # far beyond any time

# The names that AWS's APIs, boto3, fsspec and obstore use.
_NAMES = {
    "key": ("key", "access_key", "access_key_id", "aws_access_key_id", "AccessKeyId"),
    "secret": (
        "secret",
        "secret_key",
        "secret_access_key",
        "aws_secret_access_key",
        "SecretAccessKey",
    ),
    "token": ("token", "session_token", "aws_session_token", "SessionToken", "Token"),
    "sas": ("sas", "sas_token"),
    "urls": ("urls",),
    "expires": ("expires", "expires_at", "expiry_time", "Expiration"),
}
_NAME_OF = {spelling: name for name, spellings in _NAMES.items() for spelling in spellings}


def _seconds_of(expires: object) -> float | None:
    """The end of credentials in seconds since 1970; None: they have none."""
    if expires is None:
        return None
    if isinstance(expires, str):
        expires = datetime.fromisoformat(expires.replace("Z", "+00:00"))
    if isinstance(expires, datetime):
        aware = expires if expires.tzinfo is not None else expires.replace(tzinfo=UTC)
        expires = aware.timestamp()  # NaN for pandas.NaT
    if isinstance(expires, bool) or not isinstance(expires, (int, float)):
        raise TypeError(
            "expires must be a datetime, an ISO text or seconds since 1970, not "
            f"{type(expires).__name__}"
        )
    if expires == math.inf:
        return None
    if not 0 <= expires < _EXPIRES_MAX:  # also NaN, with which nothing would be renewed
        raise ValueError(f"expires must be a time, not {expires}; None: there is no end")
    return float(expires)


def _values_of(answer: Mapping[str, Any]) -> tuple[dict[str, Any], float | None]:
    """The values that a callable returned. No message quotes one."""
    if not isinstance(answer, Mapping):
        raise TypeError(f"credentials() must return a mapping, not {type(answer).__name__}")
    values: dict[str, Any] = dict.fromkeys(_NAMES)
    for spelling, value in answer.items():
        if spelling not in _NAME_OF:
            raise ValueError(
                f"credentials() returned {spelling!r}; the names are {', '.join(_NAMES)}"
            )
        values[_NAME_OF[spelling]] = value
    expires = _seconds_of(values.pop("expires"))
    values["urls"] = _urls_of(values["urls"])
    for name, value in values.items():
        if value is not None and name != "urls" and not isinstance(value, str):
            raise TypeError(f"credentials() must return texts; {name} is not one")
    is_complete = bool(values["key"] and values["secret"])
    others = ("token", "sas", "urls")
    if not is_complete and not any(values[name] for name in others):
        raise ValueError(f"credentials() must return key and secret, or {', or '.join(others)}")
    return values, expires


def _urls_of(urls: object) -> list[str]:
    if urls is None:
        return []
    if isinstance(urls, str) or not isinstance(urls, Iterable):
        raise TypeError("credentials() must return urls as a list")
    checked = list(urls)
    if not all(isinstance(url, str) for url in checked):
        raise TypeError("credentials() must return texts; one of urls is not one")
    return checked


def _give(storage: Any, values: dict[str, Any]) -> None:
    names = ("key", "secret", "token", "sas")
    _recmap.storage_renew(storage, *(values[name] for name in names))
    for url in values["urls"]:
        _recmap.storage_add_url(storage, url)


class _Renewer:
    """The credentials of one callable in this process, and the storages that use them.

    It exists while credentials that expire are in use. Others are never renewed, so the callable is
    called for each storage then, and nothing is kept.
    """

    def __init__(self, provide: Credentials) -> None:
        self.provide = provide
        self.storages: list[Any] = []
        self.values: dict[str, Any] | None = None
        self.renew_at: float | None = None  # seconds since 1970
        self.adding = 0  # calls of `add` that have not returned; guarded by the module's lock
        self.reset()

    def reset(self) -> None:
        """Called in a child process too, which has the parent's lock, but not its thread."""
        self.lock = threading.RLock()
        self.thread: threading.Thread | None = None

    def is_due(self) -> bool:
        return self.values is None or self.renew_at is None or time.time() >= self.renew_at

    def renew(self) -> None:
        """Calls the callable, and gives what it returns to all storages."""
        values, expires = _values_of(self.provide())
        _give(_recmap.storage_create(()), values)  # an error leaves the present values as they are
        now = time.time()
        self.values = values
        self.renew_at = None
        if expires is not None:  # after half of the time, if that is less than ten minutes
            self.renew_at = max(expires - _AHEAD, now + (expires - now) / 2, now + 1)
        for storage in self.storages:
            _give(storage, values)

    def add(self, storage: Any) -> None:
        """Gives the storage the credentials, now and until only the renewer keeps it."""
        with self.lock:
            if self.is_due():
                self.renew()
            assert self.values is not None
            _give(storage, self.values)
            if self.renew_at is not None:
                self.storages.append(_recmap.storage_share(storage))
            self.start()

    def start(self) -> None:
        is_running = self.thread is not None and self.thread.is_alive()
        if not is_running and self.storages:
            self.thread = threading.Thread(target=self.run, name="recmap-credentials", daemon=True)
            self.thread.start()

    def run(self) -> None:
        """Renews until no storage is left, or credentials no longer expire.

        Whatever happens in a round, the next one takes place: nobody else would renew, and the
        requests would fail only hours later, when the credentials have expired.
        """
        while True:
            try:
                self.wait()
                if not self.is_needed():
                    break
                with self.lock:
                    if self.is_due():
                        self.try_renew()
            except BaseException as error:
                _warn(f"renewing credentials failed ({type(error).__name__}) and is repeated")
                time.sleep(_PAUSE)
        _remove_unused(self)

    def wait(self) -> None:
        renew_at = self.renew_at  # read once: another thread may change it
        seconds = _PAUSE if renew_at is None else renew_at - time.time()
        time.sleep(min(max(seconds, 0.01), _PAUSE))

    def is_needed(self) -> bool:
        """Releases the storages that nothing else keeps. The thread ends after False."""
        with self.lock:
            is_renewed = self.renew_at is not None
            self.storages = [s for s in self.storages if is_renewed and _recmap.storage_is_used(s)]
            if not self.storages:
                self.thread = None
            return bool(self.storages)

    def try_renew(self) -> None:
        """The callable may raise anything, SystemExit or asyncio.CancelledError included."""
        try:
            self.renew()
        except BaseException as error:  # the present credentials may be good for some minutes
            self.renew_at = time.time() + _PAUSE
            _warn(
                f"credentials() failed ({type(error).__name__}); it is called again in "
                f"{_PAUSE:.0f} s"
            )


def _warn(message: str) -> None:
    """Warnings may be errors (`python -W error`), and showing them may fail. Raises nothing."""
    with contextlib.suppress(BaseException):
        try:
            warnings.warn(message, stacklevel=1)
        except UserWarning as warning:
            warnings.showwarning(warning, UserWarning, __file__, 0)


_renewers: dict[int, _Renewer] = {}  # by the callable's id; the renewer keeps the callable
_lock = threading.Lock()


def renewed_storage(storage: Any, provide: Credentials) -> Any:
    """Gives the storage the credentials that the callable provides, now and until it is unused."""
    with _lock:
        renewer = _renewers.setdefault(id(provide), _Renewer(provide))
        renewer.adding += 1
    try:
        renewer.add(storage)
    finally:
        with _lock:
            renewer.adding -= 1
        _remove_unused(renewer)
    return storage


def _remove_unused(renewer: _Renewer) -> None:
    with _lock:
        is_unused = not renewer.adding and not renewer.storages
        if is_unused and _renewers.get(id(renewer.provide)) is renewer:
            del _renewers[id(renewer.provide)]


def _restart() -> None:
    global _lock
    _lock = threading.Lock()
    for renewer in _renewers.values():
        renewer.reset()
        renewer.start()


os.register_at_fork(after_in_child=_restart)
