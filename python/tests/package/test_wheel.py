"""Files of a wheel besides the package."""

import importlib.metadata
import re

import pytest


def test_licences_of_carried_libraries():
    try:
        files = importlib.metadata.files("recmap") or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    libraries = {re.split(r"[-.]", file.name)[0] for file in files if file.match("*.libs/*.so*")}
    if not libraries:
        pytest.skip("this is not a wheel that contains libraries")
    licences = {file.stem: file.read_text() for file in files if file.match("licenses/*")}
    assert "Apache License" in licences["LICENSE"]
    for library in libraries:
        texts = [text for name, text in licences.items() if name.startswith(library)]
        assert texts, library
        assert re.search("OpenLDAP|BSD|MIT|Redistribution", texts[0])
