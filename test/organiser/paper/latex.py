"""A strict reader of the LaTeX that papers are written in: every fault of a document, without a LaTeX."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping

# Commands whose argument is a name or a measure, not a text.
_NAMES = (
    r"\\(?:ref|label|citep|input|includegraphics(?:\[[^\]]*\])?|bibliography|bibliographystyle|begin|end)"
)
_SPECIAL = re.compile(r"(?<!\\)[#_^~%]")


def faults_of(files: Mapping[str, str], present: Collection[str], keys: Collection[str]) -> list[str]:
    """Return the faults of a document; ``present``: its other files, ``keys``: its sources."""
    texts = {name: re.sub(r"(?m)(?<!\\)%.*$", "", text) for name, text in files.items()}
    whole = "".join(texts.values())
    labels = Counter(re.findall(r"\\label\{([^}]*)\}", whole))
    found = [f"label {label} is defined {number} times" for label, number in labels.items() if number > 1]
    found += [f"ref {name}" for name in re.findall(r"\\ref\{([^}]*)\}", whole) if name not in labels]
    found += [
        f"figure {name}"
        for name in re.findall(r"graphics\[[^\]]*\]\{([^}]*)\}", whole)
        if name not in present
    ]
    found += [
        f"input {name}" for name in re.findall(r"\\input\{([^}]*)\}", whole) if f"{name}.tex" not in files
    ]
    cited = {key for group in re.findall(r"\\citep\{([^}]*)\}", whole) for key in group.split(",")}
    found += [f"source {key}" for key in sorted(cited - set(keys))]
    for name, text in texts.items():
        found += [f"{name}: {fault}" for fault in _faults_of_text(text)]
    return found


def _faults_of_text(text: str) -> list[str]:
    found, open_ones, depth = [], [], 0
    for kind, name in re.findall(r"\\(begin|end)\{([^}]*)\}", text):
        if kind == "begin":
            open_ones.append(name)
        elif not open_ones or open_ones.pop() != name:
            found.append(f"end of {name}")
    found += [f"{name} is not ended" for name in open_ones]
    for sign in re.findall(r"(?<!\\)(?:\\\\)*([{}])", text):
        depth += 1 if sign == "{" else -1
        if depth < 0:
            found.append("a brace is closed before it is opened")
            depth = 0
    found += [f"{depth} open braces"] if depth else []
    body = re.sub(rf"{_NAMES}\{{[^}}]*\}}", "", text.partition(r"\begin{document}")[2] or text)
    if len(re.findall(r"(?<!\\)\$", body)) % 2:
        found.append("a $ without another")
    words = re.sub(r"(?<!\\)\$[^$]*\$", "", body)
    found += [f"unescaped {sign}" for sign in sorted(set(_SPECIAL.findall(words)))]
    found += [
        f"U+{ord(sign):04X}" for sign in sorted(set(words)) if ord(sign) > 0x17F and sign not in "‘’‚“”„…•€—"
    ]
    for columns, table in re.findall(r"\\begin\{longtable\}\{(.*?)\}\n(.*?)\\end\{longtable\}", text, re.S):
        number = len(re.sub(r"\{[^}]*\}", "", columns))
        rows = [row for row in table.split("\\\\\n") if "&" in re.sub(r"\\&", "", row)]
        wrong = [row for row in rows if len(re.findall(r"(?<!\\)&", row)) != number - 1]
        found += [f"a row of {number} columns: {row.strip()[:60]}" for row in wrong]
    return found
