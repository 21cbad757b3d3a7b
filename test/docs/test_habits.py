"""The files around the code that others expect, such as citation and hooks."""

import re

import pytest

from evaluation import __version__
from test.scripts.test_requirements import pins

from .pages import REPOSITORY

TEMPLATES = tuple(f".github/ISSUE_TEMPLATE/{name}.yml" for name in ("fault", "question", "feature"))


def text_of(name: str) -> str:
    return (REPOSITORY / name).read_text(encoding="utf-8")


HOOKS = {
    hook: entry.split()
    for hook, entry in re.findall(r"- id: (\S+)\n.*\n +entry: (.*)\n", text_of(".pre-commit-config.yaml"))
}


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
    assert len(text_of("CHANGELOG.md").encode()) <= 12 * 1024


def test_pre_commit_runs_the_linters_of_the_script():
    commands = re.findall(
        r"^(?:\.venv/bin/|  )(ruff \w+|mypy|shellcheck)", text_of("scripts/lint.sh"), re.MULTILINE
    )
    assert sorted(" ".join(entry[: 2 if entry[0] == "ruff" else 1]) for entry in HOOKS.values()) == sorted(
        commands
    )
    assert len(commands) == 4


def test_pre_commit_has_the_versions_of_continuous_integration():
    pinned = {name: version for name, (version, _) in pins("requirements-dev.txt").items()}
    lists = re.findall(r"additional_dependencies: \[(.*)\]", text_of(".pre-commit-config.yaml"))
    packages = [package.split("==") for names in lists for package in names.split(", ")]
    assert {package: version for package, version in packages if pinned[package] != version} == {}
    assert {"ruff", "mypy", "numpy", "pydantic"} <= {package for package, _ in packages}


@pytest.mark.parametrize("name", TEMPLATES)
def test_templates_for_issues_have_a_label_and_ask_for_no_labels_of_cases(name):
    text = text_of(name)
    assert re.search(r"^labels: \[\w+\]$", text, re.MULTILINE)
    assert "labels" in text.split("body:")[1]


def test_a_fault_is_told_with_phase_version_and_log():
    found = re.findall(r"^    id: (\w+)\n((?:    .*\n|      .*\n)*)", text_of(TEMPLATES[0]), re.MULTILINE)
    fields = dict(found)
    assert [
        name for name in ("phase", "version", "log", "labels") if "required: true" not in fields[name]
    ] == []


def test_the_site_is_built_with_the_versions_of_the_tests():
    tests, site = pins("requirements-dev.txt"), pins("requirements-docs.txt")
    assert {name: site.get(name, (None,))[0] for name in tests} == {
        name: version for name, (version, _) in tests.items()
    }
    assert [package for package, (_, hashes) in site.items() if hashes == 0] == []
    assert {"mkdocs", "mkdocs-material", "mkdocstrings"} <= site.keys()


def test_owners_are_named_for_what_exists():
    patterns = re.findall(r"^/(\S*) +@\S+", text_of(".github/CODEOWNERS"), re.MULTILINE)
    assert len(patterns) > 2
    assert [one for one in patterns if not (REPOSITORY / one).exists()] == []
