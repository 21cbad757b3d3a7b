"""The pinned requirements: every package by version and hash, the same for the package and for its tests."""

from __future__ import annotations

import re

import pytest

from test.repository import REPOSITORY


def pins(name: str) -> dict[str, tuple[str, int]]:
    """Return the version and the number of hashes of every package in a requirements file."""
    text = (REPOSITORY / name).read_text(encoding="utf-8").replace("\\\n", " ")
    found = {}
    for line in text.splitlines():
        if line and not line.lstrip().startswith("#"):
            package, version = re.match(r"([\w.-]+)==([\w.]+)", line).groups()
            assert package not in found, f"{package} is pinned twice, for different Pythons"
            found[package] = (version, line.count("--hash=sha256:"))
    return found


def direct(name: str) -> set[str]:
    lines = (REPOSITORY / name).read_text(encoding="utf-8").splitlines()
    names = (re.match(r"[\w.-]+", line) for line in lines if not line.startswith(("#", "-")))
    return {match[0].lower() for match in names if match}


@pytest.mark.parametrize("name", ["requirements", "requirements-dev"])
def test_every_direct_package_is_pinned_with_hashes(name):
    pinned = pins(f"{name}.txt")
    assert direct(f"{name}.in")
    assert direct(f"{name}.in") <= pinned.keys()
    assert [package for package, (_, hashes) in pinned.items() if hashes == 0] == []


def test_tests_run_with_the_versions_of_the_image():
    package, tests = pins("requirements.txt"), pins("requirements-dev.txt")
    assert {name: tests.get(name, (None,))[0] for name in package} == {
        name: version for name, (version, _) in package.items()
    }
