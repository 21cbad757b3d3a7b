"""Tables of benchmarks in pages of the documentation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path


def write_table(page: Path, name: str, lines: Sequence[str]) -> None:
    """Put lines between the marks `<!-- name -->` and `<!-- /name -->` of a page. Raises `ValueError`."""
    between = re.compile(rf"(?<=<!-- {name} -->\n).*?(?=<!-- /{name} -->)", re.DOTALL)
    table = "\n".join(["", *lines, "", ""])
    text, count = between.subn(lambda _: table, page.read_text(encoding="utf-8"))
    if count != 1:
        raise ValueError(f"{page}: expected the marks of {name} once, found {count}")
    page.write_text(text, encoding="utf-8")
