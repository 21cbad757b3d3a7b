"""The files of a new repository, and a synthetic sample of any declared phase."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from importlib import metadata
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any
from urllib.parse import urlsplit, urlunsplit
from urllib.request import url2pathname

import numpy as np

import evaluation
from evaluation.core.challenge import fields_of, references_of
from evaluation.core.fault import PhaseError
from evaluation.core.field import AnyField, CaseColumns, TableColumns
from evaluation.core.form import INPUT_VALUE, INTERFACE, STACK_INDEX, STACK_NAME, CaseForm
from evaluation.core.sources import CellsSource
from evaluation.io.volume_header import GEOMETRY_COLUMNS
from evaluation.organiser.starter.predictions import ORDINARY, POOR, Predictor
from evaluation.organiser.submission_writer import (
    AlgorithmWriter,
    ArchiveWriter,
    InputImage,
    InputSocket,
    SampleCase,
    write_phase,
)
from evaluation.phase.cases import FILE_NAME as CASES
from evaluation.phase.config import name_from
from evaluation.phase.registry import read_configuration, within_interfaces

_CASES, _PATIENTS, _STACK = 12, 60, 6
_IMAGE = {"width": "128", "height": "96"}
_VOLUME = {"width": "64", "height": "48"}
_GEOMETRY = ("12", "0.9 0.9 2.5", "0 0 0", "1 0 0 0 1 0 0 0 1")
_SPREAD = (0.7, 1.3)


def write_sample(phase: Path, submission: Path, sockets: Mapping[str, InputSocket] | None = None) -> None:
    """Write cases and reference of a phase that so far has its `phase.toml`, and a submission to it.

    sockets: the input sockets of algorithms by slug. A phase, or each of its interfaces, has 12 cases, or 60
    if all its values are single ones. The kinds of the fields make up the reference; predictions are of
    ordinary quality, in one case in twelve poor. The same phase gives the same files. Raises `PhaseError`.
    """
    from evaluation.challenges.declared.rules import metric_tables  # as reading a declared phase does

    found = read_configuration(phase)
    config = found.config
    interfaces = config.interfaces_of(field.name for field in fields_of(found.tasks))
    tasks = within_interfaces(found.tasks, interfaces)
    fields, references = fields_of(tasks), references_of(tasks)
    random = np.random.Generator(np.random.PCG64(0))
    count = _PATIENTS if all(isinstance(field.archive, TableColumns) for field in fields) else _CASES
    owners = [interface for interface in interfaces or (None,) for _ in range(count)]
    digits = len(str(len(owners)))
    inputs = []
    for number, interface in enumerate(owners, start=1):
        name = f"case{number:0{digits}d}"
        by_value = interface.input_sockets if interface is not None and interface.by_value else ()
        examples = {slug: sockets[slug].example if sockets else None for slug in by_value}
        values = {slug: _varied(example, number, name) for slug, example in examples.items()}
        inputs.append(InputImage(name, (name,), interface, values))
    writer: ArchiveWriter | AlgorithmWriter = ArchiveWriter(submission, fields)
    stacks: dict[str, tuple[str, int]] = {}
    forms: dict[str, CaseForm] = {}
    if config.submission == "algorithm":
        socket = next(iter(config.input_sockets), "image")
        jobs = inputs
        if any(field.socket.stacked for field in fields):
            starts = range(0, len(inputs), _STACK)
            names = [tuple(one.name for one in inputs[start : start + _STACK]) for start in starts]
            jobs = [InputImage(f"stack{number}", of_stack) for number, of_stack in enumerate(names, start=1)]
        writer = AlgorithmWriter(submission, fields, jobs, socket, sockets or {}, forms=forms)
        stacks = {name: (job.name, i) for job in jobs for i, name in enumerate(job.cases)}
    public = {column.name for column in found.challenge.form_columns_of(config.submission)}
    of_volume = GEOMETRY_COLUMNS[0] in public
    cells = _GEOMETRY if of_volume else ("", "0.9 0.9", "", "")
    geometry = {name: cell for name, cell in zip(GEOMETRY_COLUMNS, cells, strict=True) if name in public}
    kinds = [kind for field in fields for kind in (field.kind, field.reference.kind)]
    if any(kind.needs_size for kind in kinds):
        geometry = {**(_VOLUME if of_volume else _IMAGE), **geometry}

    metrics = [one for task in found.tasks for one in metric_tables(found.options, task.name).values()]
    radii = [getattr(metric, "radius", None) for metric in metrics]
    radius = min((one for one in radii if one is not None), default=None)
    by_columns: dict[tuple[str, ...], list[AnyField]] = {}
    for field in references:
        if isinstance(location := field.reference.location, CaseColumns):
            by_columns.setdefault(location.columns, []).append(field)
    shared = {columns: several for columns, several in by_columns.items() if len(several) > 1}

    def cases() -> Iterator[SampleCase]:
        for item in inputs:
            columns = dict(geometry)
            if STACK_NAME in public:
                columns |= zip((STACK_NAME, STACK_INDEX), map(str, stacks[item.name]), strict=True)
            if item.interface is not None:
                columns[INTERFACE] = item.interface.name
            if item.values:
                value = item.values if len(item.values) > 1 else next(iter(item.values.values()))
                columns[INPUT_VALUE] = value if isinstance(value, str) else json.dumps(value)
            width, height = (int(columns.get(name, 0)) for name in _IMAGE)
            case = forms[item.name] = CaseForm(item.name, width, height, columns)
            deviation = ORDINARY
            if count == _CASES:
                poor = len(forms) % _CASES == _CASES - 4
                deviation = POOR if poor else ORDINARY * random.uniform(*_SPREAD)
            predictor = Predictor(case, random, deviation, radius)
            true, predicted = {}, {}
            drawn: dict[tuple[str, ...], CellsSource] = {}
            for drawing, value, source in _drawn_together(shared, case, len(forms), random):
                true[drawing.name], drawn[source.columns] = value, source
            for field in references:
                if field.cases(case):
                    kind, location = field.reference.kind, field.reference.location
                    if isinstance(location, CaseColumns) and location.columns in drawn:
                        value = kind.read_cells(drawn[location.columns], case)
                    else:
                        value = kind.example(case, random)
                        true[field.name] = kind.writable(value, case)
                    if field in fields:
                        prediction = predictor.predicted(field.kind, value)
                        predicted[field.name] = field.kind.writable(prediction, case)
            writer.add(item.name, predicted)
            yield SampleCase(item.name, columns, true)

    write_phase(phase, (phase / "phase.toml").read_text(encoding="utf-8"), references, cases())
    writer.close()


def _drawn_together(
    shared: Mapping[tuple[str, ...], Sequence[AnyField]],
    case: CaseForm,
    number: int,
    random: np.random.Generator,
) -> Iterator[tuple[AnyField, Any, CellsSource]]:
    """Yield the cells that several fields read, with the field that draws them and its value.

    Each field draws in turn, so that the classes of all occur.
    """
    for columns, several in shared.items():
        if here := [field for field in several if field.cases(case)]:
            drawing = here[number % len(here)]
            value = drawing.reference.kind.example(case, random)
            cells = drawing.reference.kind.write_cells(value)
            yield drawing, value, CellsSource(cells, CASES, number + 1, columns)


def _varied(example: Any, number: int, case: str) -> Any:
    """Return the value of an input for one of many cases: an example with another number or text in it."""
    match example:
        case bool():
            return bool(number % 2)
        case int() | float():
            return example + number
        case list() | dict():
            values = dict(enumerate(example)) if isinstance(example, list) else example
            # The names and the version of an annotation's type are the same in every case.
            keys = [key for key in values if key not in ("type", "version", "sub_type", "probability")]
            parts = {key: _varied(values[key], number, case) for key in keys}
            changed = {key: part for key, part in parts.items() if part != values[key]}
            key = min(changed, key=lambda key: isinstance(changed[key], str), default=None)
            varied = values | ({} if key is None else {key: changed[key]})
            return list(varied.values()) if isinstance(example, list) else varied
    return f"The input of {case}."


KINDS = (
    *("segmentation", "ct-segmentation", "instances", "classification", "multiclass"),
    *("regression", "detection", "points", "survival"),
)
"""The templates of a new repository."""

PHASE, SUBMISSION = "phase", "submission"


def write_repository(folder: Path, like: str, algorithm: bool = False) -> None:
    """Write a repository with a declared phase and a synthetic sample into a folder that is new or empty.

    The phase is named after the folder. With ``algorithm`` the sample is `predictions.json` with its jobs.
    Raises `PhaseError` if the folder holds anything.
    """
    require_empty(folder)
    name = phase_name(folder)
    words = name.replace("-", " ").capitalize()
    title = re.sub(r"\b(ct|mr|oct)\b", lambda found: found[0].upper(), words, flags=re.IGNORECASE)
    head = Template(template("head.toml")).substitute(
        name=name, title=title, submission='"algorithm"\ninput_socket = "image"' if algorithm else '"archive"'
    )
    (folder / PHASE).mkdir(parents=True)
    (folder / PHASE / "phase.toml").write_text(f"{head}\n{template(f'{like}.toml')}", encoding="utf-8")
    write_sample(folder / PHASE, folder / SUBMISSION)
    write_surroundings(folder, name, title)


def write_surroundings(folder: Path, name: str, title: str, alone: bool = True) -> None:
    """Write the files of a repository other than its phase and submission, of one of several if not alone."""
    values = {"name": name, "title": title, "version": evaluation.__version__}
    for source, place in (("README.md", "README.md"), ("gitignore", ".gitignore")):
        text = Template(template(source)).substitute(values)
        (folder / place).write_text(text, encoding="utf-8")
    _write_requirement(folder)
    if alone:
        _write_workflow(folder)


def write_together(folder: Path, titles: Mapping[str, str]) -> None:
    """Write the top of one repository of several phases; ``titles``: of the phases by folder."""
    phases = "".join(f"| [`{name}`]({name}/README.md) | {title} |\n" for name, title in titles.items())
    text = Template(template("phases.md")).substitute(phases=phases)
    (folder / "README.md").write_text(text, encoding="utf-8")
    _write_workflow(folder, list(titles))


def _write_workflow(folder: Path, phases: Sequence[str] = ()) -> None:
    """Write what GitHub does with a repository, of one phase at its top or of several in folders."""
    job = "    runs-on: ubuntu-latest\n"
    each = f"    strategy:\n      matrix:\n        phase: {json.dumps(phases)}\n"
    each += "    defaults:\n      run:\n        working-directory: ${{ matrix.phase }}\n"
    (folder / ".github" / "workflows").mkdir(parents=True)
    workflow = template("evaluate.yml").replace(job, f"{job}{each if phases else ''}")
    (folder / ".github" / "workflows" / "evaluate.yml").write_text(workflow, encoding="utf-8")
    (folder / ".github" / "dependabot.yml").write_text(template("dependabot.yml"), encoding="utf-8")


def require_empty(folder: Path) -> None:
    """Raise `PhaseError` unless a folder is new or empty."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise PhaseError(f"{folder}: expected a new or empty folder, found one with content")


def phase_name(folder: Path) -> str:
    """Return the name of the phase in a repository of that folder. Raises `PhaseError` if it has none."""
    if not (name := name_from(folder.resolve().name)):
        raise PhaseError(f"{folder}: expected a name with letters or digits")
    return name


def template(name: str) -> str:
    """Return the text of a template of new repositories."""
    return (files("evaluation.organiser.starter") / "templates" / name).read_text(encoding="utf-8")


# --- Where the package comes from, for whoever installs it next ---

_PACKAGE = Path(evaluation.__file__).parent
_DISTRIBUTION = "challenge-evaluation"
_WHEEL = f"challenge_evaluation-{evaluation.__version__}-py3-none-any.whl"


def _write_requirement(folder: Path) -> None:
    """Write requirements.txt with the package from where this one came; a wheel is copied beside it.

    An installed package knows it (PEP 610): an index, an address or a file. One that runs in its repository
    comes from the repository's own address, and without one from its folder on this machine.
    """
    found: dict[str, Any] = {"url": _PACKAGE.parent.as_uri(), "dir_info": {}}
    with suppress(metadata.PackageNotFoundError):
        installed = metadata.distribution(_DISTRIBUTION)
        if Path(str(installed.locate_file("evaluation"))) == _PACKAGE:
            found = json.loads(installed.read_text("direct_url.json") or "{}")
    url = str(found.get("url", ""))
    source = Path(url2pathname(urlsplit(url).path)) if url.startswith("file:") else None
    if "vcs_info" in found:
        line = f"{_DISTRIBUTION} @ git+{url}@{found['vcs_info']['commit_id']}"
    elif not found:
        line = f"{_DISTRIBUTION}=={evaluation.__version__}"
    elif source is None:
        line = f"{_DISTRIBUTION} @ {url}"
    elif address := _address_of(source):
        line = f"{_DISTRIBUTION} @ {address}"
    elif (source / "pyproject.toml").is_file():
        make = f"`pip wheel --no-deps .` makes ./{_WHEEL} there"
        line = (
            f"# On this machine alone. For others, {make}: put it here.\n{_DISTRIBUTION} @ {source.as_uri()}"
        )
    else:
        line = f"./{_WHEEL}"
        if source.name == _WHEEL and source.is_file():
            shutil.copy(source, folder)
        else:
            line = f"# `pip wheel --no-deps .` makes this wheel in the package's repository.\n{line}"
    (folder / "requirements.txt").write_text(f"{line}\n", encoding="utf-8")


def _address_of(repository: Path) -> str | None:
    """Return the address and commit of a git repository for pip, None for a folder that has none."""
    git = ["git", "-C", str(repository)]
    try:
        questions = (["ls-files", "pyproject.toml"], ["remote", "get-url", "origin"], ["rev-parse", "HEAD"])
        tracked, address, commit = (
            subprocess.run([*git, *question], capture_output=True, text=True, check=True).stdout.strip()  # noqa: S603
            for question in questions
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    parts = urlsplit(address)
    public = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))  # without a password
    return f"git+{public}@{commit}" if tracked and parts.scheme else None
