"""A phase as it is scored: configuration, tasks, form and reference files."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Literal

from evaluation.core.challenge import (
    Challenge,
    FormColumn,
    Options,
    Task,
    fields_of,
    references_of,
    with_titles,
)
from evaluation.core.fault import PhaseError, ReadError
from evaluation.core.field import CaseColumns, Field, Files, TableRows
from evaluation.core.form import INPUT_VALUE, INTERFACE, CaseRow, Form, Interface, name_key
from evaluation.io.json_files import parse_json
from evaluation.phase.cases import FILE_NAME as CASES
from evaluation.phase.cases import Cases, read_cases, with_derived_columns
from evaluation.phase.config import FILE_NAME, PhaseConfig, read_config
from evaluation.phase.leaderboard import FILE_NAME as LEADERBOARD
from evaluation.phase.leaderboard import PlatformBoard, TeamValues, detail_of, read_leaderboard
from evaluation.phase.manifest import Manifest, has_sealed_tables, read_manifest, verify
from evaluation.phase.reference import ReferenceFiles
from evaluation.phase.registry import Rules, chosen_rules, rules_of, within_interfaces
from evaluation.phase.validation import InvalidTableError
from evaluation.platform.archive import collisions
from evaluation.platform.index import never_left_out


def _unknown(named: Mapping[str, Iterable[str]], known: Sequence[str], what: str) -> list[str]:
    """Return a fault for each name, by key of `phase.toml`, that is none of the known ones."""
    return [
        f"{FILE_NAME}: {key}: {name!r} is not a {what} of this phase; known are {', '.join(known)}"
        for key, names in named.items()
        for name in names
        if name not in known
    ]


def _unknown_metrics(config: PhaseConfig, challenge: Challenge, tasks: tuple[Task, ...]) -> list[str]:
    """Return a fault for each unknown metric, and for each that is shown and not to be published."""
    known = [*challenge.figures_of(tasks)]
    patterns = [key for key in config.metric_detail if not any(fnmatchcase(name, key) for name in known)]
    named = {
        "platform.score": [config.platform.score] if config.platform.score else [],
        "platform.columns": config.platform.columns or (),
        "platform.unranked_columns": config.platform.unranked_columns or (),
        # Others are words for names of labels, classes and columns.
        "titles": [name for name in config.titles if "." in name],
        "digits": config.digits,
        "metric_detail": patterns,
    }
    board = PlatformBoard(config, challenge, tasks)
    shown = {*board.ranked, *board.unranked, *board.needed}
    return _unknown(named, known, "metric") + [
        f"{FILE_NAME}: metric_detail: the leaderboard shows {name}; expected detail, found 'none'"
        for name in sorted(shown)
        if detail_of(config, name) == "none"
    ]


def _faults_of_sockets(config: PhaseConfig, tasks: tuple[Task, ...]) -> list[str]:
    """Return a fault for every socket of an unknown field, and for every field without a socket."""
    fields = fields_of(tasks)
    named = {
        "platform.sockets": config.platform.sockets,
        **{f"interfaces.{name}.fields": table.fields or () for name, table in config.interfaces.items()},
    }
    return _unknown(named, [field.name for field in fields], "field") + [
        f"{FILE_NAME}: submission: the platform has no socket for field {field.name!r}; expected 'archive'"
        for field in fields
        if config.submission == "algorithm" and field.socket.is_json and field.kind.socket_kind is None
    ]


def _faults_of_interfaces(interfaces: Sequence[Interface], tasks: tuple[Task, ...]) -> list[str]:
    """Return a fault for every field without an interface, and for tasks of which a case has only a part."""
    problems = []
    for task in tasks if interfaces else ():
        owners = {
            field.name: [item.name for item in interfaces if field.name in item.fields]
            for field in task.fields
        }
        for name, owned_by in owners.items():
            if not owned_by:
                problems.append(f"{FILE_NAME}: interfaces: expected one that has field {name!r}, found none")
        if len(set(map(tuple, owners.values()))) > 1:
            found = "; ".join(f"{name}: {', '.join(owned_by)}" for name, owned_by in owners.items())
            expected = "expected fields of the same interfaces, since a case is scored in the whole task"
            problems.append(f"{FILE_NAME}: tasks.{task.name}: {expected}, found {found}")
        problems += [
            f"{FILE_NAME}: interfaces: expected none, since field {field.name!r} comes in stacks of images"
            for field in task.fields
            if field.socket.stacked
        ]
    return problems


def _form_columns(
    config: PhaseConfig, challenge: Challenge, interfaces: Sequence[Interface]
) -> tuple[FormColumn, ...]:
    """Return the columns of `cases.csv` that participants know."""
    names = tuple(interface.name for interface in interfaces)
    by_value = any(interface.by_value for interface in interfaces)
    return (
        *challenge.form_columns_of(config.submission),
        *((FormColumn(INTERFACE, names if len(names) == 1 else ()),) if names else ()),
        *((FormColumn(INPUT_VALUE),) if by_value else ()),
    )


def _with_input_keys(cases: Cases, interfaces: Sequence[Interface], problems: list[str]) -> Cases:
    """Return the cases with digests of their input values; add the faults of interfaces and values."""
    known = {interface.name: interface for interface in interfaces}
    lines: dict[tuple[str, str], int] = {}
    forms = []
    for form, row in zip(cases.forms, cases.rows, strict=True):
        columns = dict(form.columns)
        place = f"{CASES}, line {row.line}"
        interface = known.get(columns[INTERFACE])
        text = columns.get(INPUT_VALUE, "")
        if interface is None:
            expected = f"expected {' or '.join(known)}"
            problems.append(f"{place}, {INTERFACE}: {expected}, found {columns[INTERFACE]!r}")
        elif interface.by_value and not text:
            problems.append(f"{place}, {INPUT_VALUE}: expected the value of the input, found nothing")
        elif interface.by_value and not (values := _input_values(text, interface)):
            expected = f"a JSON object with {', '.join(interface.input_sockets)}"
            problems.append(f"{place}, {INPUT_VALUE}: expected {expected}, found {text!r}")
        elif interface.by_value:
            columns[INPUT_VALUE] = key = interface.key_of(values)
            if (other := lines.setdefault((interface.name, key), row.line)) != row.line:
                found = f"found that of line {other}"
                problems.append(f"{place}, {INPUT_VALUE}: expected a value of its own, {found}")
        forms.append(replace(form, columns=columns))
    return replace(cases, forms=tuple(forms))


def _input_values(text: str, interface: Interface) -> dict[str, object]:
    """Return the values of the inputs that identify a case from its cell; none if the cell lacks one."""
    if len(interface.input_sockets) == 1:
        return {interface.input_sockets[0]: text}
    with suppress(ReadError):
        values = parse_json(text.encode())
        if isinstance(values, dict) and set(values) == set(interface.input_sockets):
            return values
    return {}


def _columns_in_use(
    config: PhaseConfig, challenge: Challenge, options: Options, tasks: tuple[Task, ...]
) -> dict[str, str]:
    """Return the use of each column that the case table must have; the challenge derives others."""
    wanted = {
        column: f"the reference of {field.name}"
        for field in references_of(tasks)
        if isinstance(location := field.reference.location, CaseColumns)
        for column in location.columns
    }
    derived = challenge.derived_columns(options)
    wanted |= {group.column: _OF_SUBGROUP for group in config.subgroups if group.column not in derived}
    if needs_size := _with_size(tasks):
        names = ", ".join(field.name for field in needs_size)
        wanted |= dict.fromkeys(("width", "height"), f"the size of the images of {names}")
    return wanted


_OF_SUBGROUP = "a subgroup"


def _with_size(tasks: tuple[Task, ...]) -> list[Field]:
    return [field for field in fields_of(tasks) if field.kind.needs_size or field.reference.kind.needs_size]


def _faults_of_columns(config: PhaseConfig, tasks: tuple[Task, ...], cases: Cases) -> list[str]:
    """Return the faults of columns that are missing, and of sizes that are 0."""
    problems = [cases.missing] if cases.missing else []
    problems += [
        f"{CASES}: column {group.column!r} ({_OF_SUBGROUP}) is missing, and so are columns to derive it from"
        for group in config.subgroups
        if group.column not in cases.columns and repr(group.column) not in cases.missing
    ]
    needs_size = _with_size(tasks)
    return problems + [
        f"{CASES}, line {row.line}, {column}: expected a size in pixels, found {row.cells[column]!r}"
        for case, row in zip(cases.forms, cases.rows, strict=True)
        if any(field.cases(case) for field in needs_size)
        for column, size in (("width", case.width), ("height", case.height))
        if column in row.cells and not size
    ]


# --- The reference file of every case, and faults of missing, duplicate and unmatched files ---


def _pair_files(
    tasks: tuple[Task, ...], cases: Cases, manifest: Manifest, problems: list[str]
) -> dict[str, dict[str, str]]:
    """Return the reference file of every case by field; missing, duplicate and unmatched ones are faults."""
    paired: dict[str, dict[str, str]] = {}
    fields = references_of(tasks)
    of_field = {field.name: [case for case in cases.forms if field.cases(case)] for field in fields}
    expected = {
        field.name: {
            location.path(case.name, extension): case.name
            for case in of_field[field.name]
            for extension in location.extensions
        }
        for field in fields
        if isinstance(location := field.reference.location, Files)
    }
    with_extension: dict[str, None] = {}
    for field in fields:
        location, names = field.reference.location, [case.name for case in of_field[field.name]]
        if isinstance(location, TableRows):
            file = location.files[0]
            paired[field.name] = dict.fromkeys(names, file)
            if file not in manifest.files:
                problems.append(f"{file}: is missing, expected the reference of {len(names)} cases")
        elif isinstance(location, Files):
            others = [paths for name, paths in expected.items() if name != field.name]
            found = _FilesOfField(location, expected[field.name], manifest.files, others)
            paired[field.name] = found.paths
            missing = () if field.reference.optional else found.missing(names)
            problems += [*found.duplicates, *missing, *found.of_no_case()]
            with_extension |= dict.fromkeys(found.with_extension)
    if with_extension:
        first, *more = with_extension
        shown = f"{first!r}" + (f" and {len(more)} like it" if more else "")
        wanted = "names without the extension of files"
        problems.append(f"{CASES}, name: expected {wanted}, found {shown} (evaluation cases writes them so)")
    return paired


class _FilesOfField:
    """The files in the folder of a field, by case; extensions may have any letter case.

    ``case_of``: the name of the case by path. ``others``: paths of other fields. ``duplicates``: faults of
    second files of a case. ``with_extension``: names of cases that have the extension of their file. Files of
    no case are kept by their names without extension, by which `missing` tells what a missing file may be.
    """

    def __init__(
        self,
        location: Files,
        case_of: Mapping[str, str],
        files: Iterable[str],
        others: Iterable[Collection[str]],
    ) -> None:
        self.paths: dict[str, str] = {}
        self.duplicates: list[str] = []
        self.with_extension: list[str] = []
        self._location, self._unmatched = location, dict[str, list[str]]()
        for path in files:
            folder, _, name = path.rpartition("/")
            if folder != location.folder:
                continue
            case = case_of.get(path) or case_of.get(_in_lower_case(path, location.extensions))
            if case is None:
                if not any(path in other for other in others):
                    key = name_key(name)
                    key = key if key != name.casefold() else PurePosixPath(key).stem
                    self._unmatched.setdefault(key, []).append(path)
            elif case in self.paths:
                self.duplicates.append(f"{path}: duplicate file for case {case}, beside {self.paths[case]}")
            else:
                self.paths[case] = path

    def missing(self, names: Iterable[str]) -> Iterator[str]:
        """Yield the fault of each case without a file."""
        suffix, extensions = self._location.suffix, ", ".join(self._location.extensions)
        for name in names:
            if name in self.paths:
                continue
            others = self._unmatched.pop(f"{name}{suffix}".casefold(), [])
            if not others and self._unmatched.pop(f"{name_key(name)}{suffix}", []):
                self.with_extension.append(name)
                continue
            also = f", found {' and '.join(others)} (read are {extensions})" if others else ""
            yield f"{self._location.path(name)}: is missing, expected the reference of case {name}{also}"

    def of_no_case(self) -> Iterator[str]:
        """Yield the fault of each file that is left."""
        yield from (f"{path}: matches no case of cases.csv" for path in chain(*self._unmatched.values()))


def _in_lower_case(path: str, extensions: Sequence[str]) -> str:
    """Return a path with the extension as it is listed, which may have another letter case."""
    found = next((one for one in extensions if path.lower().endswith(one)), "")
    return f"{path[: len(path) - len(found)]}{found}"


# --- A phase as it is scored: configuration, tasks, form and reference files ---

Source = Literal["image", "tarball", "folder"]


@dataclass(frozen=True)
class Phase:
    """One test set of a challenge with its rules; ``source`` is the origin of its folder."""

    folder: Path
    config: PhaseConfig
    challenge: Challenge
    options: Options
    tasks: tuple[Task, ...]
    cases: Cases
    manifest: Manifest
    reference_paths: Mapping[str, Mapping[str, str]]
    leaderboard: tuple[TeamValues, ...] = ()
    source: Source = "folder"
    seal_is_verified: bool = True

    @cached_property
    def board(self) -> PlatformBoard:
        """The leaderboard of the phase on the platform."""
        return PlatformBoard(self.config, self.challenge, self.tasks)

    @cached_property
    def form(self) -> Form:
        """The public part of the phase, without labels."""
        return Form(
            challenge=self.challenge.name,
            phase=self.config.name,
            submission=self.config.submission,
            tasks=tuple(task.name for task in self.tasks),
            missing=self.missing,
            options=self.options.form_options(),
            sockets=self.config.platform.sockets,
            cases=self.cases.forms,
            optional_tasks=self.board.optional_tasks,
            input_sockets=self.config.input_sockets,
            run_time=self.config.scored_run_time,
            provided=self.challenge.provided if self.config.provided is None else self.config.provided,
            interfaces=self.config.interfaces_of(field.name for field in fields_of(self.tasks)),
        )

    def verify_seal(self) -> None:
        """Compare all files with the seal, unless that has been done. Raises `PhaseError`."""
        if not self.seal_is_verified:
            verify(self.folder, self.manifest)

    @property
    def missing(self) -> str:
        """Treatment of an incomplete submission: "reject" or "worst"."""
        return self.config.missing or self.challenge.missing

    @property
    def rows(self) -> tuple[CaseRow, ...]:
        """The rows of the case table, in the order of the form's cases."""
        return self.cases.rows

    @property
    def reference(self) -> ReferenceFiles:
        """The reference as workers open it."""
        digests = {path: file.sha256 for path, file in self.manifest.files.items()}
        return ReferenceFiles(str(self.folder), digests, self.reference_paths)


def load_phase(
    folder: Path,
    manifest: Manifest | None = None,
    source: Source = "folder",
    faults_of_files: list[str] | None = None,
) -> Phase:
    """Return the sealed phase in a folder; its seal is verified. Raises `PhaseError` listing every fault.

    ``manifest`` replaces the one in the folder, for a phase that is about to be sealed. ``faults_of_files``
    gets the reference files that are missing or match no case, where nothing else is wrong, instead of their
    being raised.
    """
    if not folder.is_dir():
        raise PhaseError(f"{folder}: is not a folder")
    if manifest is None:
        manifest = read_manifest(folder)
        verify(folder, manifest)
    return _Loading(folder).phase(manifest, source, faults_of_files)


def load_phase_to_verify(folder: Path, source: Source = "folder") -> Phase:
    """Return the sealed phase in a folder, as `load_phase` does; `Phase.verify_seal` is left to the caller.

    The tables have been compared with the seal, but not the names and sizes of the other files: during
    that a reader lists the submission.
    """
    with suppress(PhaseError):
        manifest = read_manifest(folder)
        if has_sealed_tables(folder, manifest):
            return replace(_Loading(folder).phase(manifest, source, None), seal_is_verified=False)
    return load_phase(folder, source=source)  # raises every fault


class _Loading:
    """The steps of loading a phase. Each adds its faults to one list, so that one attempt names all of them.

    A step without which no other can be taken raises them, beside those of the case table.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._faults: list[str] = []

    def phase(self, manifest: Manifest, source: Source, faults_of_files: list[str] | None) -> Phase:
        """Return the phase. Raises `PhaseError` with every fault; see `load_phase`."""
        config = self._config()
        rules = self._rules(config)
        challenge, options = rules.challenge.titled(config.titles), rules.options
        selected = self._selected(config, rules, challenge)
        interfaces = config.interfaces_of(field.name for field in fields_of(selected))
        self._faults += _faults_of_interfaces(interfaces, selected)
        tasks = with_titles(within_interfaces(selected, interfaces), config.titles)
        self._faults += _faults_of_names(config, challenge, tasks)
        cases = self._cases(config, challenge, options, tasks, interfaces)
        cases = with_derived_columns(cases, challenge, options, [group.column for group in config.subgroups])
        self._faults += _faults_of_columns(config, tasks, cases)
        paths = self._reference_paths(tasks, cases, manifest, faults_of_files)
        teams = self._teams(challenge, tasks) if LEADERBOARD in manifest.files else ()
        phase = Phase(self._folder, config, challenge, options, tasks, cases, manifest, paths, teams, source)
        if config.submission == "archive":
            self._faults += [f"{FILE_NAME}: {fault}" for fault in collisions(phase.form, fields_of(tasks))]
        PhaseError.raise_all(self._faults)
        return phase

    def _config(self) -> PhaseConfig:
        try:
            return read_config(self._folder)
        except PhaseError as error:
            raise self._end(error.problems) from None

    def _rules(self, config: PhaseConfig) -> Rules:
        try:
            return chosen_rules(config, self._folder)
        except PhaseError as error:
            self._faults += error.problems
        try:
            # With default options, faults elsewhere are found as well.
            return rules_of(config.challenge, {})
        except (PhaseError, InvalidTableError):
            raise self._end(()) from None

    def _selected(self, config: PhaseConfig, rules: Rules, challenge: Challenge) -> tuple[Task, ...]:
        try:
            return rules.select_tasks(config.tasks, config.scored_run_time)
        except PhaseError as error:
            faults = [f"{FILE_NAME}: {problem}" for problem in error.problems]
            raise self._end(faults, challenge.form_columns_of(config.submission)) from None

    def _cases(
        self,
        config: PhaseConfig,
        challenge: Challenge,
        options: Options,
        tasks: tuple[Task, ...],
        interfaces: Sequence[Interface],
    ) -> Cases:
        try:
            wanted = _columns_in_use(config, challenge, options, tasks)
            cases = read_cases(self._folder, _form_columns(config, challenge, interfaces), wanted)
            if interfaces:
                faults: list[str] = []
                cases = _with_input_keys(cases, interfaces, faults)
                PhaseError.raise_all(faults)
        except PhaseError as error:
            raise PhaseError(*self._faults, *error.problems) from None
        return cases

    def _reference_paths(
        self, tasks: tuple[Task, ...], cases: Cases, manifest: Manifest, faults_of_files: list[str] | None
    ) -> dict[str, dict[str, str]]:
        unpaired: list[str] = []
        paths = _pair_files(tasks, cases, manifest, unpaired)
        collected = self._faults if self._faults or faults_of_files is None else faults_of_files
        collected.extend(unpaired)
        return paths

    def _teams(self, challenge: Challenge, tasks: tuple[Task, ...]) -> tuple[TeamValues, ...]:
        try:
            return read_leaderboard(self._folder / LEADERBOARD, (*challenge.figures_of(tasks),))
        except PhaseError as error:
            self._faults += error.problems
            return ()

    def _end(self, faults: Iterable[str], columns: Sequence[FormColumn] = ()) -> PhaseError:
        """Return the faults found so far, others, and those of the case table."""
        return PhaseError(*self._faults, *faults, *_faults_of_cases(self._folder, columns))


def _faults_of_names(config: PhaseConfig, challenge: Challenge, tasks: tuple[Task, ...]) -> list[str]:
    """Return a fault for each metric, task or field that `phase.toml` names and that is none."""
    optional = () if config.optional_tasks in (None, "all") else config.optional_tasks or ()
    return [
        *_unknown_metrics(config, challenge, tasks),
        *_unknown({"optional_tasks": optional}, [task.name for task in tasks], "task"),
        *(
            f"{FILE_NAME}: optional_tasks: {name!r} cannot be left out: its fields are those of {others}"
            for name, others in never_left_out(optional, tasks).items()
        ),
        *_faults_of_sockets(config, tasks),
    ]


def _faults_of_cases(folder: Path, form_columns: Sequence[FormColumn] = ()) -> tuple[str, ...]:
    """Return the faults of the case table alone, to be listed beside faults of the configuration."""
    try:
        read_cases(folder, form_columns)
    except PhaseError as error:
        return error.problems
    return ()
