"""Starter kits: the zip that an organiser can download of each phase of a challenge on the platform.

A kit holds a list of jobs of every interface, whose sockets say what they are, and a program that reads the
evaluation's further inputs and writes its further outputs. Source of the format: the templates of
`grandchallenge/forge` in comic/grand-challenge.org, before 2025 of DIAGNijmegen/rse-grand-challenge-forge.
"""

import ast
import json
import re
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, model_validator

from evaluation.core.fault import PhaseError, ReadError
from evaluation.core.keys import Key
from evaluation.io.json_files import json_kind, parse_json
from evaluation.organiser.starter import repository
from evaluation.organiser.submission_writer import InputSocket
from evaluation.phase.validation import InvalidTableError, read_table

_METHOD = re.compile("example[_-]evaluation[_-]method")
_JOBS = "predictions.json"
_MAX_BYTES = 1 << 26
Place = Path | zipfile.Path


class _KitPart(BaseModel):
    # A kit has further keys for other readers.
    model_config = ConfigDict(extra="ignore", frozen=True)


class Socket(_KitPart):
    """A socket: an input or output of an algorithm or of an evaluation."""

    slug: Annotated[str, Key(pattern=r"^[a-z0-9][a-z0-9_-]*$")]
    relative_path: Annotated[str, Key(pattern=r"^[\w-][\w. -]*(/[\w-][\w. -]*)*$")]
    kind: str
    super_kind: str = ""
    example_value: Any = None

    @model_validator(mode="before")
    @classmethod
    def _with_kind(cls, value: Any) -> Any:
        """Return the socket with its kind and super kind, which newer kits have as flags."""
        if not isinstance(value, dict) or "kind" in value or not any(key.startswith("is_") for key in value):
            return value
        image, is_json = value.get("is_image_kind"), value.get("is_json_kind")
        extension = PurePosixPath(str(value.get("relative_path"))).suffix
        kind = "Image" if image else _kind_of_example(value.get("example_value")) if is_json else "File"
        kind = "DICOM Image Set" if value.get("is_dicom_image_kind") else kind
        kind = _KIND_OF_EXTENSION.get(extension, kind) if kind == "File" else kind
        is_file = value.get("is_json_file_kind") or value.get("is_file_kind")
        return {**value, "kind": kind, "super_kind": "Image" if image else "File" if is_file else "Value"}

    @property
    def is_json_file(self) -> bool:
        """Whether the platform stores the value as a file, which it names after the socket in every job."""
        return self.super_kind.casefold() == "file" and self.relative_path.endswith(".json")

    @property
    def identifies(self) -> int:
        """How well an input tells the cases apart: an image, a file, a value, a JSON file."""
        order = {"image": 0, "file": 3 if self.is_json_file else 1, "value": 2}
        return order.get(self.super_kind.casefold(), 1)

    def described(self) -> InputSocket:
        """Return the socket as the platform describes it in a list of jobs."""
        super_kind = self.super_kind.capitalize() or "Image"
        example = _EXAMPLES.get(self.kind) if self.example_value is None else self.example_value
        return InputSocket(self.slug, self.kind, super_kind, self.relative_path, example)

    @property
    def content(self) -> str:
        """The kind of the value: that of the socket, or where it may hold anything, that of its example."""
        if self.kind != "Anything" or self.example_value in _PLACEHOLDERS:
            return self.kind
        found = _kind_of_example(self.example_value)
        return found if found != "Anything" else f"Anything, such as {json_kind(self.example_value)}"


class Interface(_KitPart):
    """An interface: one set of inputs of an algorithm, and its outputs."""

    inputs: Annotated[list[Socket], Key(min_length=1)]
    outputs: list[Socket]


class KitPhase(_KitPart):
    """A phase of a challenge, and the further inputs and outputs of its evaluation."""

    slug: Annotated[str, Key(pattern=r"^[a-z0-9][a-z0-9_-]*$")]
    algorithm_interfaces: list[Interface]
    evaluation_additional_inputs: list[Socket]
    evaluation_additional_outputs: list[Socket]


_EXAMPLES: dict[str, Any] = json.loads(repository.template("examples.json"))
"""A value of each kind of the platform whose values are JSON."""

# The examples that the platform gives for a socket that has none.
_PLACEHOLDERS = (None, {"key": "value"}, {"key": "value", "None": None}, {"some_key": "some_value"})
_KIND_OF_EXTENSION = {
    ".pdf": "PDF file",
    ".sqreg": "SQREG file",
    ".jpeg": "Thumbnail jpg",
    ".png": "Thumbnail png",
    ".obj": "OBJ file",
    ".mp4": "MP4 file",
    ".newick": "Newick tree-format file",
    ".biom": "BIOM format",
    ".csv": "CSV file",
    ".zip": "ZIP file",
}


def _kind_of_example(value: Any) -> str:
    """Return the platform's kind of a JSON value, from the example that the kit gives."""
    match value:
        case {"type": str(kind)} if kind in _EXAMPLES:
            return kind
        case {"$schema": str(schema)} if "vega" in schema:
            return "Chart"
        case {"3d_affine_transform": _}:
            return "Affine transform registration"
        case [str(), *more] if all(isinstance(item, str) for item in more):
            return "Multiple choice"
    kinds = {bool: "Bool", int: "Integer", float: "Float", str: "String"}
    return kinds.get(type(value), "Anything")


# --- The phases of a kit ---


def phases_of(path: Path) -> list[KitPhase]:
    """Return the phases in a kit, a zip or its `predictions.json`. Raises `PhaseError`."""
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


def _phase(jobs: Place, name: str, parts: tuple[str, ...]) -> KitPhase:
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
    except ReadError as error:
        raise PhaseError(str(error.fault(name))) from None
    except (KeyError, TypeError, AttributeError) as error:
        found = f"no {error}" if isinstance(error, KeyError) else str(error)
        raise PhaseError(f"{name}: expected the jobs of a starter kit: {found}") from None
    except OSError as error:
        raise PhaseError(f"{name}: cannot be read: {error}") from None
    method: Any = jobs  # a folder in a zip has the same operations without their types
    program = method.parent.parent.parent / "evaluate.py"
    further = _further(program.read_text(encoding="utf-8")) if at and program.is_file() else ([], [])
    content = {
        "slug": slug,
        "algorithm_interfaces": list(interfaces.values()),
        "evaluation_additional_inputs": further[0],
        "evaluation_additional_outputs": further[1],
    }
    try:
        return read_table(KitPhase, content)
    except InvalidTableError as error:
        raise PhaseError(*error.problems(name)) from None


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
