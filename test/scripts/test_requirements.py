"""The pinned requirements: every package by version and hash, the same for the package and for its tests."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterable

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


def names_in(lines: Iterable[str]) -> set[str]:
    names = (re.match(r"[\w.-]+", line) for line in lines if not line.startswith(("#", "-")))
    return {match[0].lower() for match in names if match}


PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
DIRECT = {
    "requirements.txt": names_in(PROJECT["dependencies"]),
    "requirements-dev.txt": names_in((REPOSITORY / "requirements-dev.in").read_text().splitlines()),
}


@pytest.mark.parametrize("name", DIRECT)
def test_every_direct_package_is_pinned_with_hashes(name):
    pinned = pins(name)
    assert DIRECT[name]
    assert DIRECT[name] <= pinned.keys()
    assert [package for package, (_, hashes) in pinned.items() if hashes == 0] == []


def test_every_package_that_is_imported_is_named():
    """What only comes along with another package may go with its next version."""
    imported = {
        name.partition(".")[0]
        for path in (REPOSITORY / "evaluation").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module])
    } - sys.stdlib_module_names
    distributions = {
        "PIL": "pillow",
        "sklearn": "scikit-learn",
        "grand_challenge_metrics": "grand-challenge-metrics",
        "pydantic_core": "pydantic",  # its own core, which its documentation names
        "vl_convert": "vl-convert-python",
        "zlib_ng": "zlib-ng",
    }
    # A phase whose metrics need scikit-image lists it in a requirements.txt of its own.
    imported -= {"evaluation", "skimage"}
    named = {distributions.get(name, name).lower() for name in imported}
    assert "numpy" in named
    extras = {
        name
        for extra in ("annotations", "cluster", "report")
        for name in names_in(PROJECT["optional-dependencies"][extra])
    }
    assert extras <= named | {"dask"}  # which the workers of a cluster are started with
    # What tests compare with is no less a part of what the figures mean.
    assert (named - extras) | {"evalutils", "grand-challenge-metrics"} == DIRECT["requirements.txt"]


def test_tests_run_with_the_versions_of_the_image():
    package, tests = pins("requirements.txt"), pins("requirements-dev.txt")
    assert {name: tests.get(name, (None,))[0] for name in package} == {
        name: version for name, (version, _) in package.items()
    }
