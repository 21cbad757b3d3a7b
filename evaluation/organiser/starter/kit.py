"""Starter kits: the zip that an organiser can download of each phase of a challenge on the platform.

A kit holds a list of jobs of every interface, whose sockets say what they are, and a program that reads the
evaluation's further inputs and writes its further outputs. Source of the format: the templates of
`grandchallenge/forge` in comic/grand-challenge.org, before 2025 of DIAGNijmegen/rse-grand-challenge-forge.
"""

import ast
import re
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from evaluation.core.fault import PhaseError, ReadError
from evaluation.io.json_files import parse_json

_METHOD = re.compile("example[_-]evaluation[_-]method")
_JOBS = "predictions.json"
_MAX_BYTES = 1 << 26
Place = Path | zipfile.Path


def phases_of(path: Path) -> list[dict[str, Any]]:
    """Return the phases in a kit, a zip or its `predictions.json`, as in a pack. Raises `PhaseError`."""
    if path.suffix.casefold() != ".zip":
        return [_phase(path.resolve(), path.name, path.resolve().parts)]
    try:
        with zipfile.ZipFile(path) as archive:
            found = [item for item in archive.infolist() if item.filename.endswith(f"/test/input/{_JOBS}")]
            names = [item.filename for item in found if _METHOD.search(item.filename)]
            if not names or any(item.file_size > _MAX_BYTES for item in found):
                expected = f"expected example_evaluation_method/test/input/{_JOBS} as in a starter kit"
                raise PhaseError(f"{path.name}: {expected}, found {'one too large' if names else 'none'}")
            parts = [(path.stem, *Path(name).parts) for name in names]
            both = zip(names, parts, strict=True)
            return [_phase(zipfile.Path(archive, name), f"{path.name}/{name}", of) for name, of in both]
    except (OSError, zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise PhaseError(f"{path}: cannot be read: {error}") from None


def _phase(jobs: Place, name: str, parts: tuple[str, ...]) -> dict[str, Any]:
    """Return a phase, given its list of jobs, which lies in a folder of the phase."""
    at = next((position for position, part in enumerate(parts) if _METHOD.fullmatch(part)), 0)
    slug = re.sub(r"[^a-z0-9_-]+", "-", parts[at - 1].lower() if at else "phase").strip("-_") or "phase"
    interfaces: dict[tuple[str, ...], dict[str, Any]] = {}
    try:
        for job in _listed(parse_json(jobs.read_bytes()), "jobs"):
            inputs, outputs = (
                [value["socket" if value.get("socket") else "interface"] for value in _listed(job[key], key)]
                for key in ("inputs", "outputs")
            )
            known = tuple(sorted(str(socket["slug"]) for socket in inputs))
            interfaces.setdefault(known, {"inputs": inputs, "outputs": outputs})
    except (ReadError, KeyError, TypeError, AttributeError) as error:
        found = f"no {error}" if isinstance(error, KeyError) else str(error)
        raise PhaseError(f"{name}: expected the jobs of a starter kit: {found}") from None
    except OSError as error:
        raise PhaseError(f"{name}: cannot be read: {error}") from None
    method: Any = jobs  # a folder in a zip has the same operations without their types
    program = method.parent.parent.parent / "evaluate.py"
    further = _further(program.read_text(encoding="utf-8")) if at and program.is_file() else ([], [])
    return {
        "slug": slug,
        "algorithm_interfaces": list(interfaces.values()),
        "evaluation_additional_inputs": further[0],
        "evaluation_additional_outputs": further[1],
    }


def _listed(value: Any, of: str) -> list[Any]:
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise TypeError(f"{of} are no list of objects")
    return value


# --- The further inputs and outputs of an evaluation, which only the program of a kit names ---


def _further(program: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the sockets of further inputs and outputs, from the calls that read and write them."""
    try:
        tree = ast.parse(program)
    except (SyntaxError, ValueError, RecursionError):
        raise PhaseError(
            "evaluate.py of the starter kit: expected the program as it was downloaded"
        ) from None
    values: dict[str, Any] = {}
    found: dict[str, list[dict[str, Any]]] = {"INPUT_DIRECTORY": [], "OUTPUT_DIRECTORY": []}
    for name, value in _assigned(tree):
        with suppress(ValueError):
            values[name] = ast.literal_eval(value)
    calls = {id(value): name for name, value in _assigned(tree)}
    for call in ast.walk(tree):
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)):
            continue
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        match given.get("location"):
            case ast.BinOp(ast.Name(root), ast.Div(), ast.Constant(str(path))) if root in found:
                content = given.get("content") or given.get("array")
                name = content.id if isinstance(content, ast.Name) else calls.get(id(call), "")
                prefix, _, slug = name.partition("_")
                if prefix in ("output", "submission") and slug:
                    found[root].append(_socket(slug, path, call.func.id, values.get(name)))
    return found["INPUT_DIRECTORY"], found["OUTPUT_DIRECTORY"]


def _assigned(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    for statement in ast.walk(tree):
        match statement:
            case ast.Assign([ast.Name(name)], value):
                yield name, value


def _socket(slug: str, path: str, function: str, example: Any) -> dict[str, Any]:
    """Return a socket; the function that reads or writes its value tells an image, JSON or a file."""
    is_json = function.endswith("json_file")
    return {
        "slug": slug.replace("_", "-"),
        "relative_path": path,
        "is_image_kind": "image" in function,
        "is_dicom_image_kind": "dicom" in function,
        "is_json_kind": is_json,
        "is_file_kind": not is_json and "image" not in function,
        "example_value": example if is_json else None,
    }
