"""The table of examples in the documentation."""

import re

from test.examples.samples import EXAMPLES, lines_of
from test.repository import REPOSITORY

PAGE = REPOSITORY / "docs" / "your-own-challenge.md"


def test_the_table_has_every_example_with_its_lines():
    rows = re.findall(
        r"\(\.\./examples/([\w-]+)/phase\.toml\)[^|]*\| (\d+) \|", PAGE.read_text(encoding="utf-8")
    )
    found = {name: int(lines) for name, lines in rows}
    assert found == {path.parent.name: lines_of(path.parent.name) for path in EXAMPLES.glob("*/phase.toml")}
    assert max(found.values()) <= 60
