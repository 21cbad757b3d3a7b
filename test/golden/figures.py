"""The golden figures of a phase: what a seal, three scored teams and a ranking give today, as text."""

from __future__ import annotations

import json
import math
import shutil
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from test import started
from test.golden.sources import BUNDLED, NEW, TEAMS, Source
from test.repository import REPOSITORY

KEPT = ("metrics.json", "cases.json")
"""What is kept of the first team and the last; of all teams their leaderboard."""
_TOLERANCE = 1e-9
# Digests of files, which a comment in a phase changes, and the declaration, which the phase itself is.
_LEFT_OUT = ("manifest", "declaration")


def computed(source: Source, folder: Path) -> dict[str, str]:
    """Return the texts of a phase by the name of their file; ``folder`` is for what lies between."""
    with tarfile.open(source.input) as archive:
        for entry in archive:
            place, content = folder / entry.name, archive.extractfile(entry)
            place.parent.mkdir(parents=True, exist_ok=True)
            assert content is not None
            place.write_bytes(content.read())
    phase, teams = folder / "phase", folder / "teams"
    if source.of == BUNDLED:
        shutil.copytree(source.configuration.parent, phase)
        shutil.copytree(REPOSITORY / "test" / "input" / source.name, teams / TEAMS[0])
    configuration = source.configuration
    if source.of == NEW:
        _run("new", folder / "new", "--like", source.name)
        configuration = folder / "new" / "phase" / "phase.toml"
    for path in configuration.parent.glob("*.py"):
        shutil.copy(path, phase)
    lines = configuration.read_text(encoding="utf-8").splitlines()
    # So that a submission that lacks cases is scored, whatever the phase does with it.
    lines = ['missing = "worst"', *(line for line in lines if not line.startswith("missing ="))]
    (phase / "phase.toml").write_text("\n".join([*lines, ""]), encoding="utf-8")
    (phase / ".nonce").write_text("0" * 32, encoding="ascii")
    _run("seal", phase)
    _run("evaluate", "--each", teams, "--ground-truth", phase, "--output", folder / "each")
    _run("rank", folder / "each", "--output", folder / "board")
    files = {f"{team}.{name}": folder / "each" / team / name for team in TEAMS[::2] for name in KEPT}
    files["leaderboard.json"] = folder / "board" / "leaderboard.json"
    return {name: text_of(json.loads(path.read_text(encoding="utf-8"))) for name, path in files.items()}


def _run(*arguments: object) -> None:
    done = started.run(*arguments, timeout=600)
    if done.returncode:
        raise RuntimeError(f"evaluation {' '.join(map(str, arguments))}:\n{done.stdout}\n{done.stderr}")


def text_of(value: Any, indent: int = 0) -> str:
    """Return JSON with a line for whatever holds plain values alone, such as the figures of a case."""
    parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    if not any(isinstance(part, (dict, list)) and part for part in parts):
        return json.dumps(_rounded(value), ensure_ascii=False) + ("" if indent else "\n")
    margin = " " * (indent + 1)
    if isinstance(value, Mapping):
        kept = {name: part for name, part in value.items() if name not in _LEFT_OUT}
        lines = [f"{json.dumps(name)}: {text_of(part, indent + 1)}" for name, part in kept.items()]
    else:
        lines = [text_of(part, indent + 1) for part in value]
    opening, closing = "{}" if isinstance(value, Mapping) else "[]"
    body = ",\n".join(f"{margin}{line}" for line in lines)
    return f"{opening}\n{body}\n{' ' * indent}{closing}" + ("" if indent else "\n")


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.12g}")
    if isinstance(value, Mapping):
        return {name: _rounded(part) for name, part in value.items() if name not in _LEFT_OUT}
    return [_rounded(part) for part in value] if isinstance(value, list) else value


def differences(before: str, after: str) -> Iterator[str]:
    """Yield the path of each value that differs, and the value before and after; numbers hold to 1e-9."""
    old, new = (dict(_flat(json.loads(text))) for text in (before, after))
    for path in [*old, *(path for path in new if path not in old)]:
        if not _is_same(old.get(path, _NOTHING), new.get(path, _NOTHING)):
            yield f"{path}: {old.get(path, _NOTHING)} -> {new.get(path, _NOTHING)}"


_NOTHING = "nothing"


def _flat(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and value:
        for name, part in value.items():
            yield from _flat(part, f"{path}.{name}".lstrip("."))
    elif isinstance(value, list) and value:
        for number, part in enumerate(value):
            name = part["name"] if isinstance(part, dict) and "name" in part else number
            yield from _flat(part, f"{path}[{name}]")
    else:
        yield path, value


def _is_same(old: Any, new: Any) -> bool:
    if isinstance(old, (int, float)) and isinstance(new, (int, float)):
        return math.isclose(old, new, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE) and isinstance(old, bool) == (
            isinstance(new, bool)
        )
    return bool(type(old) is type(new) and old == new)
