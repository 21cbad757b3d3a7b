"""What is stated of the platforms stands in one place, with its date, and nowhere else."""

import re
from itertools import chain

import pytest

from scripts.platform_facts import FACTS
from test.repository import REPOSITORY

OF_THE_FACTS = ("scripts/platform_facts.py", "docs/platform.md", "CHANGELOG.md")
"""The place of the facts, the page that is made of them, and what was true once."""
ROOTS = ("evaluation", "docs", "scripts", "schemas", "README.md", "SECURITY.md", "CONTRIBUTING.md")
KINDS = {".py", ".md", ".toml", ".txt", ".sh", ".json", ".yml"}


def texts():
    """Return the text of every page, module and template by its path."""
    roots = [REPOSITORY / root for root in ROOTS]
    found = chain.from_iterable(root.rglob("*") if root.is_dir() else [root] for root in roots)
    paths = {path.relative_to(REPOSITORY).as_posix(): path for path in found if path.suffix in KINDS}
    return {
        name: path.read_text(encoding="utf-8") for name, path in paths.items() if name not in OF_THE_FACTS
    }


TEXTS = texts()


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: fact.subject)
def test_a_fact_has_a_date_and_a_source_and_is_stated_once(fact):
    assert re.fullmatch(r"20\d\d-(0[1-9]|1[0-2])", fact.seen)
    assert "/" in fact.source
    assert re.search(fact.words, fact.text), "its own words do not find it"
    assert [name for name, text in TEXTS.items() if re.search(fact.words, text)] == []


def test_no_other_place_dates_the_platform():
    dated = re.compile(
        r"(since|until|removed in) (January|February|March|April|May|June|July|August|September|October"
        r"|November|December)? ?20\d\d|migration 0\d\d\d"
    )
    assert [name for name, text in TEXTS.items() if dated.search(text)] == []
