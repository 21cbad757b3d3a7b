"""The files around the code that others expect, such as citation and hooks."""

import re

import pytest

from evaluation import __version__
from test.scripts.test_requirements import pins

from .pages import REPOSITORY

TEMPLATES = tuple(f".github/ISSUE_TEMPLATE/{name}.yml" for name in ("fault", "question", "feature"))


def text_of(name: str) -> str:
    return (REPOSITORY / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["CITATION.cff", ".pre-commit-config.yaml", "mkdocs.yml", *TEMPLATES])
def test_files_are_valid_yaml(name):
    yaml = pytest.importorskip("yaml", reason="scripts/docs.sh installs it")
    assert isinstance(yaml.safe_load(text_of(name)), dict)


def test_citation_and_changelog_have_the_version_of_the_package():
    citation = dict(re.findall(r"^([\w-]+): +(\S.*)$", text_of("CITATION.cff"), re.MULTILINE))
    version, date = re.findall(r"^## (\S+) \((\d{4}-\d\d-\d\d)\)$", text_of("CHANGELOG.md"), re.MULTILINE)[0]
    assert (version, date) == (__version__, citation["date-released"])
    assert citation["version"] == __version__
    assert f"[{citation['license']}](LICENSE)" in text_of("README.md")


def test_the_site_is_built_with_the_versions_of_the_tests():
    tests, site = pins("requirements-dev.txt"), pins("requirements-docs.txt")
    assert {name: site.get(name, (None,))[0] for name in tests} == {
        name: version for name, (version, _) in tests.items()
    }
    assert [package for package, (_, hashes) in site.items() if hashes == 0] == []
    assert {"mkdocs", "mkdocs-material", "mkdocstrings"} <= site.keys()
