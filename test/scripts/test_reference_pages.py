"""The pages and schemas that are made of the code are those of the repository."""

import re

import pytest

from evaluation.challenges.declared.declarable import METRICS, name_of
from scripts.reference_pages import catalogue_pages, written
from test.repository import REPOSITORY

WRITTEN = written()


@pytest.mark.parametrize("place", WRITTEN)
def test_what_is_published_is_what_is_made(place):
    published = (REPOSITORY / place).read_text(encoding="utf-8")
    assert published == WRITTEN[place], "run: python -m scripts.reference_pages"


def test_no_page_of_a_family_is_left_over():
    assert {f"docs/{path.name}" for path in (REPOSITORY / "docs").glob("metrics-*.md")} <= set(WRITTEN)


def test_every_metric_is_in_one_family_and_its_table_of_questions():
    pages = catalogue_pages()
    first = pages.pop("catalogue.md")
    entries = [name for text in pages.values() for name in re.findall(r"^## Metric `(\w+)`", text, re.M)]
    assert sorted(entries) == sorted(map(name_of, METRICS))
    questions, _, usual = first.partition("## Usual names")
    rows = "\n".join(row for row in questions.splitlines() if row.startswith("| "))
    asked = re.findall(r"\[`(\w+)`\]", rows)
    assert sorted(asked) == sorted(entries)
    for name in ("NSD", "HD95", "IoU", "AUPRC", "QWK", "clDice", "mAP"):
        assert f" {name}" in usual.partition("## Keys")[0]
    assert max(len(text.split()) for text in (first, *pages.values())) < 9_000
