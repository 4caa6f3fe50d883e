"""Used by the tests of faults of a network: a shard that they read, and certificates."""

from __future__ import annotations

import subprocess

SHARD = "digits-00000-of-00004.tfrecord"


def run_openssl(*arguments):
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


def certificate_of(folder, name, days):
    """A certificate that signs itself, and its key."""
    key, request, path = folder / "key.pem", folder / "request.pem", folder / "certificate.pem"
    names = folder / "names"
    names.write_text(f"subjectAltName={name}")
    run_openssl(
        "req",
        "-new",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-subj",
        "/CN=x",
        "-keyout",
        key,
        "-out",
        request,
    )
    run_openssl(
        "x509",
        "-req",
        "-in",
        request,
        "-signkey",
        key,
        "-days",
        days,
        "-extfile",
        names,
        "-out",
        path,
    )
    return key, path
