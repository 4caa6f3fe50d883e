"""usage: python3 packaging/components.py PREFIX

Prints the list (SPDX 2.3) of the libraries that packaging/libraries built in PREFIX, with their
licences and the versions of Debian's sources. packaging/build-wheel puts it into the wheel, in
`.dist-info/sboms` as PEP 770 says, and packaging/release takes it from there.
"""

import json
import os
import sys
import time
import urllib.parse
import zipfile
from pathlib import Path
from typing import Any

COMPILER = "ziglang"  # its own library, with memcpy for example, is linked too

# The licences of the libraries that packaging/libraries builds for wheels.
LICENCES = {
    "curl": "curl",
    "libmicrohttpd": "LGPL-2.1-or-later",
    "libisal": "BSD-3-Clause",
    "libjpeg-turbo": "IJG AND BSD-3-Clause AND Zlib",
    "libpng1.6": "libpng-2.0",
    "liburing": "MIT",
    "libwebp": "BSD-3-Clause",
    "lmdb": "OLDAP-2.8",
    "openssl": "Apache-2.0",
    "protobuf-c": "BSD-2-Clause",
    "xxhash": "BSD-2-Clause",
    "zlib": "Zlib",
    COMPILER: "MIT",
}
NAME_IN_WHEEL = "libraries.spdx.json"
OUTDATED = "Built without the newest security update of Debian, which could not be downloaded."


def package(name: str, version: str, licence: str) -> dict[str, Any]:
    return {
        "SPDXID": f"SPDXRef-{name}",
        "name": name,
        "versionInfo": version,
        "licenseDeclared": licence,
        "licenseConcluded": licence,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
    }


def relation(one: str, kind: str, other: str) -> dict[str, str]:
    return {
        "spdxElementId": f"SPDXRef-{one}",
        "relationshipType": kind,
        "relatedSpdxElement": f"SPDXRef-{other}",
    }


def document(
    name: str, namespace: str, created: str, packages: list[Any], relations: list[Any]
) -> bytes:
    """An SPDX document that describes the first package, with further relations."""
    made = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": name,
        "documentNamespace": namespace,
        "creationInfo": {"created": created, "creators": ["Organization: recmap"]},
        "packages": packages,
        "relationships": [relation("DOCUMENT", "DESCRIBES", packages[0]["name"]), *relations],
    }
    return (json.dumps(made, indent=2) + "\n").encode()


def package_url(name: str, version: str, origin: str) -> str:
    """What scanners for vulnerabilities look up."""
    quoted = urllib.parse.quote(version, safe="")
    if origin == "pypi":
        return f"pkg:pypi/{name}@{quoted}"
    return f"pkg:deb/debian/{name}@{quoted}?arch=source&distro={origin}"


def built_package(name: str, version: str, origin: str, state: str = "") -> dict[str, Any]:
    """One line of sources.txt."""
    reference = {
        "referenceCategory": "PACKAGE-MANAGER",
        "referenceType": "purl",
        "referenceLocator": package_url(name, version, origin),
    }
    built = {**package(name, version, LICENCES[name]), "externalRefs": [reference]}
    return {**built, "comment": OUTDATED} if state == "outdated" else built


def built_packages(prefix: Path) -> list[dict[str, Any]]:
    try:
        lines = (prefix / "sources.txt").read_text().splitlines()
    except FileNotFoundError:
        sys.exit(f"components: {prefix} has no sources.txt: run packaging/libraries")
    packages = [built_package(*line.split()) for line in sorted(lines)]
    missing = set(LICENCES) - {one["name"] for one in packages}
    if missing:
        sys.exit(f"components: {prefix} has no {min(missing)}: run packaging/libraries")
    return packages


def libraries_of_wheel(path: Path) -> list[dict[str, Any]]:
    """The packages of the libraries that a wheel contains; none if it has no list of them."""
    if not zipfile.is_zipfile(path):
        return []
    with zipfile.ZipFile(path) as wheel:
        for name in wheel.namelist():
            if name.endswith(f".dist-info/sboms/{NAME_IN_WHEEL}"):
                return json.loads(wheel.read(name))["packages"]
    return []


def main(prefix: str) -> None:
    packages = built_packages(Path(prefix))
    versions = "-".join(one["versionInfo"] for one in packages)
    more = [relation("DOCUMENT", "DESCRIBES", one["name"]) for one in packages[1:]]
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
    name, space = "libraries of recmap's wheel", f"urn:recmap:libraries:{versions}"
    sys.stdout.buffer.write(document(name, space, created, packages, more))


if __name__ == "__main__":
    main(*sys.argv[1:])
