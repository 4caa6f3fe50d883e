"""Credentials that the libraries of Amazon, Google and Microsoft find, for `Storage.credentials`.

Where these libraries are installed, they are also asked if a bucket is opened without keys. Nothing
is imported before.
"""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from .._base.errors import InvalidError, StorageError
from .._base.imports import import_library, is_installed
from .._base.warn import warn_caller
from .credentials import renewed_storage

__all__ = ["AmazonCredentials", "AzureCredentials", "GoogleCredentials", "add_found"]

Found: TypeAlias = "dict[str, Any] | None"  # None: there are no credentials
Options: TypeAlias = "Mapping[str, str]"

_GOOGLE_SCOPE = "https://www.googleapis.com/auth/devstorage.read_only"
_AZURE_SCOPE = "https://storage.azure.com/.default"
_LIFETIME_MAX = 43200  # seconds: the longest of a role's keys

# Variables that name a source of credentials. The service of the machine is not asked then.
_AMAZON_SOURCES = (
    *("AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_WEB_IDENTITY_TOKEN_FILE"),
    *("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI"),
)
_AZURE_SERVICES = ("IDENTITY_ENDPOINT", "MSI_ENDPOINT")  # of this job
_AZURE_SOURCES = (
    *("AZURE_CLIENT_SECRET", "AZURE_CLIENT_CERTIFICATE_PATH", "AZURE_FEDERATED_TOKEN_FILE"),
    *_AZURE_SERVICES,
)


def _has_any(variables: Iterable[str]) -> bool:
    return any(os.environ.get(name) for name in variables)


class _Cloud:
    """A callable that returns what a library finds. A pickled one asks the library again."""

    modules: tuple[str, ...]
    package: str
    advice: str

    def __call__(self) -> Mapping[str, Any]:
        found = self.find()
        if found is None:
            raise InvalidError(f"{self.package} finds no credentials", advice=self.advice)
        return found

    def find(self) -> Found:
        """The credentials. An error of the library becomes one of recmap."""
        try:
            modules = [import_library(name) for name in self.modules]
        except ImportError as error:
            raise InvalidError(
                f"{self.package} cannot be imported: {error}", advice=f"install {self.package}"
            ) from error
        try:
            return self.ask(*modules)
        except Exception as error:
            message = " ".join(str(error).split()) or type(error).__name__
            raise StorageError(
                f"{self.package} gets no credentials: {message}", advice=self.advice
            ) from error

    def ask(self, *modules: Any) -> Found:
        raise NotImplementedError


class AmazonCredentials(_Cloud):
    """Keys for s3://, from botocore."""

    modules, package = ("botocore.session",), "botocore"
    advice = "run `aws configure list` to see what the tools of AWS find"

    def __init__(self, profile: str | None = None) -> None:
        self.profile = profile

    def ask(self, *modules: Any) -> Found:
        (botocore,) = modules
        session = botocore.Session(profile=self.profile)
        if self.profile is not None or _has_any(_AMAZON_SOURCES):
            session.get_component("credential_provider").remove("iam-role")
        found = session.get_credentials()
        if found is None:
            return None
        keys = found.get_frozen_credentials()
        values = {"key": keys.access_key, "secret": keys.secret_key, "token": keys.token}
        return {**values, "expires": _expiry_of(found)}


def _expiry_of(keys: Any) -> float | None:
    """A time until which botocore's keys are valid; None: they do not expire. botocore keeps the
    time of expiry private, but says whether it is within a number of seconds. So the answer is the
    first of 12 hours, 6 hours, 3 hours and so on in which the keys do not expire."""
    if not hasattr(keys, "refresh_needed"):
        return None
    lifetimes = (_LIFETIME_MAX >> halvings for halvings in range(_LIFETIME_MAX.bit_length()))
    return time.time() + next((s for s in lifetimes if not keys.refresh_needed(s)), 0)


class GoogleCredentials(_Cloud):
    """A token for gs://, from google-auth."""

    modules, package = ("google.auth", "google.auth.transport.requests"), "google-auth"
    advice = "run `gcloud auth application-default login`, or check GOOGLE_APPLICATION_CREDENTIALS"

    def ask(self, *modules: Any) -> Found:
        auth, transport = modules
        try:
            found, _ = auth.default(scopes=[_GOOGLE_SCOPE])
        except auth.exceptions.DefaultCredentialsError:
            if os.environ.get("GOOGLE_APPLICATION_CREDENTIALS"):
                raise
            return None
        found.refresh(transport.Request())
        return {"token": found.token, "expires": found.expiry}


class AzureCredentials(_Cloud):
    """A token for az://, from azure-identity."""

    modules, package = ("azure.identity",), "azure-identity"
    advice = "run `az login`, or check the variables AZURE_... of the environment"

    def ask(self, *modules: Any) -> Found:
        (identity,) = modules
        is_elsewhere = _has_any(_AZURE_SOURCES) and not _has_any(_AZURE_SERVICES)
        options = {"exclude_managed_identity_credential": True} if is_elsewhere else {}
        with identity.DefaultAzureCredential(**options) as credential:
            token = credential.get_token(_AZURE_SCOPE)
        return {"token": token.token, "expires": token.expires_on}


# ---- Without being asked.


class _NothingFoundError(Exception):
    pass


class _Automatic:
    """Credentials of a library, if it finds some."""

    def __init__(self, cloud: _Cloud) -> None:
        self.cloud = cloud

    def __call__(self) -> Mapping[str, Any]:
        found = self.cloud.find()
        if found is None:
            raise _NothingFoundError
        return found


def add_found(
    storage: Any,
    names: Iterable[str | None],
    pairs: Iterable[tuple[str, str]],
    *,
    fails: bool,
) -> None:
    """Gives a storage the credentials that are found for the buckets among the names, if no others
    are given. `fails`: a library that fails raises an error instead of a warning."""
    schemes = {name.partition("://")[0] for name in names if name and "://" in name}
    buckets = schemes & _CLOUDS.keys()
    if len(buckets) != 1:  # credentials of one store are not for another
        return
    options = dict(pairs)
    (scheme,) = buckets
    if not _CLOUDS[scheme](options):
        return
    environment = frozenset(
        item for item in os.environ.items() if item[0].startswith(("AWS_", "AZURE_", "GOOGLE_"))
    )
    try:
        renewed_storage(storage, _automatic(scheme, options.get("profile"), environment))
    except _NothingFoundError:
        pass
    except StorageError as error:
        if fails:
            raise
        warn_caller(f"{error.message}: {error.advice}")


@functools.lru_cache(maxsize=16)
def _automatic(scheme: str, profile: str | None, environment: object) -> _Automatic:
    """The same object for the same question: the storages of a process share its credentials."""
    if scheme == "s3":
        return _Automatic(AmazonCredentials(profile))
    return _Automatic(GoogleCredentials() if scheme == "gs" else AzureCredentials())


_PASSED = ("key", "access_key", "secret", "secret_key", "token", "session_token")
_PROCESS = ("RECMAP_CREDENTIAL_PROCESS",)


def _is_given(options: Options, *names: str) -> bool:
    """Returns true if credentials, or none at all, were passed."""
    is_anonymous = any(
        options.get(name, "").lower() in ("true", "1") for name in ("anonymous", "anon")
    )
    return is_anonymous or any(name in options for name in ("credential_process", *names))


def _asks_amazon(options: Options) -> bool:
    is_set = "profile" not in options and _has_any(("AWS_ACCESS_KEY_ID", *_PROCESS))
    return not is_set and not _is_given(options, *_PASSED) and is_installed("botocore")


def _asks_google(options: Options) -> bool:
    is_given = _is_given(options, *_PASSED) or _has_any(_PROCESS)
    return not is_given and _is_private(options) and is_installed("google.auth")


def _asks_azure(options: Options) -> bool:
    """Only if the environment names a source: a public container needs none, and refuses a token of
    another organisation."""
    is_given = _is_given(options, *_PASSED, "sas", "sas_token") or _has_any(
        ("AZURE_STORAGE_SAS_TOKEN", *_PROCESS)
    )
    is_named = _has_any(_AZURE_SOURCES)
    return is_named and not is_given and _is_private(options) and is_installed("azure.identity")


_CLOUDS = {"s3": _asks_amazon, "gs": _asks_google, "az": _asks_azure}


def _is_private(options: Options) -> bool:
    """Returns true if nobody on the network can read a token that is sent to the endpoint."""
    names = ("endpoint", "endpoint_url", "endpoint_override")
    endpoints = [options[name] for name in names if options.get(name)]
    return all(_is_private_url(endpoint) for endpoint in endpoints)


def _is_private_url(url: str) -> bool:
    scheme, _, rest = url.partition("://")
    host = rest.partition("/")[0]
    host = host.partition("]")[0] if host.startswith("[") else host.partition(":")[0]
    return scheme == "https" or host in ("localhost", "127.0.0.1", "[::1")
