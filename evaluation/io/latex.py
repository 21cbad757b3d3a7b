"""Tables for LaTeX, with the rules of the package booktabs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "–": "--",
    "−": r"$-$",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "τ": r"$\tau$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "²": r"\textsuperscript{2}",
    "³": r"\textsuperscript{3}",
    "\n": " ",
    "\r": " ",
}


def escaped(text: str) -> str:
    """Return a text as LaTeX shows it as it is."""
    return "".join(_SPECIAL.get(sign, sign) for sign in text)


def tabular(titles: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[bool]) -> str:
    """Return a table; columns marked in ``right`` are aligned right, the others left."""
    lines = [
        rf"\begin{{tabular}}{{{''.join('r' if one else 'l' for one in right)}}}",
        r"\toprule",
        " & ".join(map(escaped, titles)) + r" \\",
        r"\midrule",
        *(" & ".join(map(escaped, row)) + r" \\" for row in rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"
