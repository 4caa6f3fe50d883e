"""The files of a release: wheels, the source distribution and the Debian packages."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import components

_NAME = re.compile(r"recmap-([^-]+)-.*\.whl|recmap-([^-]+)\.tar\.gz|[^_]+_([^_]+)_[^_]+\.deb")

# What packaging/build-packages writes.
_KINDS = {
    "a wheel for x86-64": "*-abi3-*_x86_64.whl",
    "a wheel for aarch64": "*-abi3-*_aarch64.whl",
    "the source distribution": "recmap-*.tar.gz",
    "Debian packages": "*.deb",
    "the documentation": "documentation.tar.gz",
}


def packages_in(folders: list[Path]) -> list[Path]:
    """The packages, and other archives, such as the documentation."""
    ends = "whl", "tar.gz", "deb"
    return sorted(path for folder in folders for end in ends for path in folder.rglob(f"*.{end}"))


def libraries_of_wheels(paths: list[Path]) -> list[tuple[str, dict[str, Any]]]:
    """The name of a wheel and a library in it, for each library of each wheel."""
    wheels = [path for path in paths if path.suffix == ".whl"]
    return [(path.name, one) for path in wheels for one in components.libraries_of_wheel(path)]


def missing_packages(paths: list[Path]) -> list[str]:
    """The kinds of packages that are not there."""
    return [kind for kind, name in _KINDS.items() if not any(path.match(name) for path in paths)]


def faults_of_packages(paths: list[Path], version: str, libraries: list[str]) -> list[str]:
    """Reasons why these are not the packages of the version, whose wheels contain the libraries."""
    counts = Counter(path.name for path in paths)
    faults = [f"there are {count} files {name}" for name, count in counts.items() if count > 1]
    for path in paths:
        found = _NAME.fullmatch(path.name)
        if found and version not in found.groups():
            faults.append(f"{path} is not of version {version}: remove it")
        elif path.suffix == ".whl":
            faults += _faults_of_wheel(path, libraries)
    return faults


def _faults_of_wheel(path: Path, libraries: list[str]) -> list[str]:
    advice = "build it with packaging/build-wheel"
    if "-linux_" in path.name:
        return [f"{path} is for the machine that built it only: {advice}"]
    listed = {one["name"] for one in components.libraries_of_wheel(path)}
    missing = sorted(set(libraries) - listed)
    return [f"{path} does not list the library {missing[0]}: {advice}"] if missing else []
