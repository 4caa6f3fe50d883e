"""Files of a wheel besides the package."""

import contextlib
import http.client
import importlib.metadata
import json
import re
import subprocess
import sysconfig
from pathlib import Path
from urllib.parse import urlsplit

import pytest


def files_of_wheel():
    try:
        return importlib.metadata.files("recmap") or []
    except importlib.metadata.PackageNotFoundError:
        return []


def test_manual_and_completion_of_the_command():
    files = {"/".join(file.parts[-3:]): file for file in files_of_wheel()}
    if not any(name.endswith("bin/recmap") for name in files):
        pytest.skip("recmap is not installed as a wheel")
    assert "man/man1/recmap-cat.1" in {"/".join(file.parts[-3:]) for file in files.values()}
    for name in (
        "bash-completion/completions/recmap",
        "zsh/site-functions/_recmap",
        "fish/vendor_completions.d/recmap.fish",
    ):
        path = next(file for end, file in files.items() if end.endswith(name))
        assert "--list-commands" in path.read_text()


@contextlib.contextmanager
def started_view(index):
    """The process of `recmap view` and the address that it prints."""
    command = [Path(sysconfig.get_path("scripts"), "recmap"), "view", "--no-browser", index]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process, urlsplit(process.stdout.readline().strip())
        finally:
            process.terminate()


def test_view_answers_a_request(digits_index):
    files = {"/".join(file.parts[-3:]): file for file in files_of_wheel()}
    if "recmap/bin/recmap" not in files:
        pytest.skip("recmap is not installed as a wheel")
    with started_view(digits_index) as (process, address):
        assert address.hostname == "127.0.0.1"
        connection = http.client.HTTPConnection(address.netloc, timeout=60)
        connection.request("GET", address.path)
        reply = connection.getresponse()
        assert (reply.status, b"<!DOCTYPE html>" in reply.read()) == (200, True)
        mappings = Path(f"/proc/{process.pid}/maps").read_text()
    # A wheel for other machines lists its libraries. It must not need the system's libmicrohttpd.
    if any(file.match("sboms/libraries.spdx.json") for file in files.values()):
        library = files["recmap/bin/recmap"].locate().with_name("libmicrohttpd.so.12")
        assert str(library) in mappings


def test_licences_of_carried_libraries():
    files = files_of_wheel()
    libraries = {re.split(r"[-.]", file.name)[0] for file in files if file.match("*.libs/*.so*")}
    for file in files:
        if file.match("sboms/libraries.spdx.json"):  # all but libmicrohttpd are linked statically
            packages = json.loads(file.read_text())["packages"]
            libraries.update(package["name"] for package in packages)
            assert all(package["versionInfo"][0].isdigit() for package in packages)
            assert {"curl", "libmicrohttpd", "lmdb", "openssl"} <= libraries
    if not libraries:
        pytest.skip("this is not a wheel that contains libraries")
    licences = {file.stem: file.read_text() for file in files if file.match("licenses/*")}
    assert "Apache License" in licences["LICENSE"]
    for library in libraries:
        texts = [text for name, text in licences.items() if name.startswith(library)]
        assert texts, library
        assert re.search("OpenLDAP|Apache|BSD|MIT|Redistribution|Permission", texts[0]), library
