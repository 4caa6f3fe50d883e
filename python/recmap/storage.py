"""Credentials for buckets, from the libraries of Amazon, Google and Microsoft.

storage = recmap.Storage(credentials=recmap.storage.aws(profile="training"))
ds = recmap.open("s3://bucket/train-*.tfrecord", storage=storage)

They know profiles, roles, SSO, workload identities and the services of machines. Install them with
``pip install "recmap[aws]"``, ``[google]`` or ``[azure]``. Where they are installed, they are also
asked without `credentials` if a bucket is opened and no keys are given.
"""

from __future__ import annotations

from ._base.names import suggest_arguments
from ._options.clouds import AmazonCredentials, AzureCredentials, GoogleCredentials
from ._options.credentials import Credentials

__all__ = ["aws", "azure", "google"]


def __dir__() -> list[str]:
    """The public names, for completion."""
    return sorted(__all__)


@suggest_arguments
def aws(profile: str | None = None) -> Credentials:
    """Keys for ``s3://`` that botocore finds, for `recmap.Storage`: of the environment, a profile
    with keys, a role, SSO or a program, a container or an instance.

    Args:
        profile: the section of ~/.aws/config; default: AWS_PROFILE, or else what botocore finds
            first.

    Calling the result raises:
        InvalidError: botocore is missing, or finds no credentials.
        StorageError: what it finds does not work, such as an SSO login that has expired.
    """
    return AmazonCredentials(profile)


@suggest_arguments
def google() -> Credentials:
    """A token for ``gs://`` that google-auth finds, for `recmap.Storage`: of the file that
    GOOGLE_APPLICATION_CREDENTIALS names, the login of gcloud, or the account of the machine.

    Calling the result raises `InvalidError` or `StorageError`, as with `aws`.
    """
    return GoogleCredentials()


@suggest_arguments
def azure() -> Credentials:
    """A token for ``az://`` that azure-identity finds, for `recmap.Storage`: of the environment, a
    workload or managed identity, or the login of the tool ``az``.

    Calling the result raises `InvalidError` or `StorageError`, as with `aws`.
    """
    return AzureCredentials()
