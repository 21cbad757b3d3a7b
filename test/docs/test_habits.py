"""The files around the code that others expect, such as citation and hooks, and what comments leave out."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from itertools import groupby

import pytest

from evaluation import __version__
from test.scripts.test_requirements import pins

from .pages import REPOSITORY

TEMPLATES = tuple(f".github/ISSUE_TEMPLATE/{name}.yml" for name in ("fault", "question", "feature"))
TEMPLATE = TEMPLATES[0]


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


def test_the_citation_has_the_version_and_licence_of_the_package():
    citation = dict(re.findall(r"^([\w-]+): +(\S.*)$", text_of("CITATION.cff"), re.MULTILINE))
    assert {"cff-version", "message", "title"} <= citation.keys()
    assert citation["version"] == __version__
    assert f"[{citation['license']}](LICENSE)" in text_of("README.md")


def test_the_changelog_begins_with_the_version_that_can_be_tagged_and_is_short():
    version, date = re.findall(r"^## (\S+) \((\d{4}-\d\d-\d\d)\)$", text_of("CHANGELOG.md"), re.MULTILINE)[0]
    citation = dict(re.findall(r"^([\w-]+): +(\S.*)$", text_of("CITATION.cff"), re.MULTILINE))
    assert (version, date) == (__version__, citation["date-released"])
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


def test_the_template_for_issues_asks_for_phase_version_and_a_log_without_labels():
    fields = dict(re.findall(r"^    id: (\w+)\n((?:    .*\n|      .*\n)*)", text_of(TEMPLATE), re.MULTILINE))
    assert {"phase", "version", "log", "labels"} <= fields.keys()
    for name in ("phase", "version", "log", "labels"):
        assert "required: true" in fields[name], name
    assert "Remove every label" in fields["log"]


def test_the_site_is_built_with_the_versions_of_the_tests():
    tests, site = pins("requirements-dev.txt"), pins("requirements-docs.txt")
    assert {name: site.get(name, (None,))[0] for name in tests} == {
        name: version for name, (version, _) in tests.items()
    }
    assert [package for package, (_, hashes) in site.items() if hashes == 0] == []
    assert {"mkdocs", "mkdocs-material", "mkdocstrings"} <= site.keys()


@pytest.mark.parametrize("name", TEMPLATES)
def test_every_template_for_issues_has_a_label_and_asks_for_no_labels_of_cases(name):
    text = text_of(name)
    assert re.search(r"^labels: \[\w+\]$", text, re.MULTILINE)
    assert "labels" in text.split("body:")[1]


def test_owners_are_named_for_what_exists():
    patterns = re.findall(r"^/(\S*) +@\S+", text_of(".github/CODEOWNERS"), re.MULTILINE)
    assert len(patterns) > 2
    assert [one for one in patterns if not (REPOSITORY / one).exists()] == []


def test_a_pull_request_is_asked_for_what_contributing_asks():
    text = text_of(".github/pull_request_template.md")
    assert all(
        word in text for word in ("CHANGELOG.md", "CONTRIBUTING.md", "scripts/lint.sh", "same_bytes.sh")
    )


# --- What a mechanism for speed saves stands in a table, since a comment is not measured again ---

SAVING = re.compile(
    r"\bsaves? (up to )?\d"
    r"|\d ?% (less|faster|of (its|the)( \w+)? time)"
    r"|\d( m?s)? → [\d.]+( m?s)? without"
    r"|\d m?s, not \d"
    r"|\d times (as (fast|slow)|faster|slower)"
    r"|\b(half|third|quarter|\w+th) of the time\b",
    re.IGNORECASE,
)


MAYBE = re.compile(r"\bsaves?\b|\d ?%|→|\d m?s,|\btimes\b|of the\W+time", re.IGNORECASE)
"""What a text has that may have such a figure, so that the others need not be parsed."""


def comments_and_docstrings(source: str) -> Iterator[str]:
    """Yield the docstrings, and comments of successive lines as one."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield " ".join((ast.get_docstring(node) or "").split())
    comments = [
        (token.start[0], token.string.lstrip("# "))
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT
    ]
    # Lines that follow each other are as far apart as their positions in the list.
    for _, lines in groupby(enumerate(comments), lambda one: one[1][0] - one[0]):
        yield " ".join(text for _, (_, text) in lines)


def test_no_comment_or_docstring_says_in_figures_what_is_saved():
    files = {file: file.read_text(encoding="utf-8") for file in (REPOSITORY / "evaluation").rglob("*.py")}
    found = {
        f"{file.relative_to(REPOSITORY)}: {match.group()}"
        for file, source in files.items()
        if MAYBE.search(source)
        for text in comments_and_docstrings(source)
        if (match := SAVING.search(text))
    }
    assert sorted(found) == []  # the figures belong to benchmarks/savings.md


@pytest.mark.parametrize(
    ("text", "is_saving"),
    [
        ("# Saves nothing.\n# It saves 14 %\n# of a run.", True),
        ('def f():\n    """Read all.\n\n    With it 0.78 → 0.92 s\n    without.\n    """', True),
        ("x = 1  # 22 % less processor time", True),
        ("# 0.03 s after a run, 5 % of its\n# time.", True),
        ("# 4 volumes: 0.11 s, not 1.76 s", True),
        ("# in a quarter of the time", True),
        ("# the 97.5 % quantile of 0 → 1, and 95 % of the cases", False),
        ("# a pattern would take six times as long", False),
        ("note = 'saves 3 % of the time'", False),
    ],
)
def test_savings_in_figures_are_told_from_other_figures(text, is_saving):
    assert any(SAVING.search(one) for one in comments_and_docstrings(text)) is is_saving
    assert not is_saving or MAYBE.search(text)
