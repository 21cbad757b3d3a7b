"""Challenges by name, bundled or programmed at home, and the tasks that a configuration chooses."""

import importlib
import os
import pkgutil
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from evaluation.core.challenge import Challenge, FormColumn, Options, Reading, Task, references_of
from evaluation.core.estimator import Share
from evaluation.core.fault import PhaseError
from evaluation.core.field import Field, HiddenField
from evaluation.core.form import INTERFACE, Form, Interface, RunTime
from evaluation.core.metric import Metric, mean_metric
from evaluation.io.files import sha256_of
from evaluation.phase.config import DECLARED, FILE_NAME, FUNCTIONS, PhaseConfig, read_config
from evaluation.phase.validation import InvalidTableError, read_table

AnyFieldType = TypeVar("AnyFieldType", Field, HiddenField)

# --- Challenges that are programmed at home: `challenge.py` beside `phase.toml`, or one folder up ---

CHALLENGE_FILE = "challenge.py"
_MODULE = "evaluation_challenge_at_home_{}"

_files: dict[str, Path] = {}
_challenges: dict[str, Challenge] = {}


def find_file(folder: Path) -> Path | None:
    """Return the file with the challenge of a phase folder, None where there is none."""
    absolute = folder.absolute()
    files = (place / CHALLENGE_FILE for place in (absolute, absolute.parent))
    return next((file for file in files if file.is_file()), None)


def files_at_home(file: Path) -> list[Path]:
    """Return the file that defines a challenge, and the modules beside it that it may import."""
    return [file, *sorted(path for path in file.parent.glob("*.py") if path.name != file.name)]


def load(file: Path) -> Challenge:
    """Run a file once in this process and return its challenge, known by its name from then on.

    Raises `PhaseError` if it cannot be run or defines no challenge, and for a second file that defines
    another challenge of a known name.
    """
    file = file.resolve()
    for name, known in _files.items():
        if known == file:
            return _challenges[name]
    challenge = _run(file)
    if (other := _files.get(challenge.name)) is not None and other.read_bytes() != file.read_bytes():
        raise PhaseError(f"{file}: challenge {challenge.name!r} is also defined, differently, by {other}")
    _files[challenge.name] = file
    _challenges[challenge.name] = challenge
    return challenge


def load_beside(folder: Path) -> None:
    """Load the challenge of a phase folder, if one is programmed beside it, and find its functions.

    Raises `PhaseError`.
    """
    if (file := find_file(folder)) is not None:
        load(file)
    functions_beside(folder)


def file_of(name: str) -> str | None:
    """Return the path of the file that defines a challenge that was loaded, None for any other."""
    return str(_files[name]) if name in _files else None


def _run(file: Path) -> Challenge:
    challenge = getattr(_module_of(file), "CHALLENGE", None)
    if not isinstance(challenge, Challenge):
        found = "nothing of that name" if challenge is None else f"a {type(challenge).__name__}"
        raise PhaseError(f"{file}: CHALLENGE: expected a Challenge, found {found}")
    return challenge


def _module_of(file: Path) -> ModuleType:
    """Run a file as a module of its own. Raises `PhaseError` if it cannot be run."""
    module_name = _MODULE.format(len(_files) + len(_modules))
    module = ModuleType(module_name)
    module.__file__ = str(file)
    # Dataclasses and pickles look their module up there.
    sys.modules[module_name] = module
    _forget_modules_of_others(file)
    with importing_beside(file):
        try:
            exec(compile(file.read_bytes(), file, "exec"), vars(module))  # noqa: S102
        except Exception as error:
            del sys.modules[module_name]
            last = traceback.extract_tb(error.__traceback__)[-1]
            of_home = Path(last.filename).parent == file.parent
            place = f"{last.filename}, line {last.lineno}" if of_home else file
            raise PhaseError(f"{place}: cannot be run: {type(error).__name__}: {error}") from None
    return module


@contextmanager
def importing_beside(file: Path) -> Iterator[None]:
    """Let modules beside the file of a challenge be imported by their names."""
    writes_nothing, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # into the phase folder
    sys.path.append(str(file.parent))
    try:
        yield
    finally:
        sys.path.remove(str(file.parent))
        sys.dont_write_bytecode = writes_nothing


def is_at_home(code_file: str) -> bool:
    """Return whether code is of a challenge that was loaded, or of a module beside one."""
    folder = os.path.dirname(code_file)  # noqa: PTH120
    return any(folder == str(file.parent) for file in (*_files.values(), *_sources.values()))


class FigureError(Exception):
    """Raised for what a function returns that is no figure; ``place``: the file and line of the function."""

    def __init__(self, place: str, problem: str) -> None:
        self.place = place
        super().__init__(problem)


def words_of(error: BaseException) -> str:
    """Return what an error of code at home says."""
    return str(error) if isinstance(error, FigureError) else f"{type(error).__name__}: {error}"


def place_at_home(error: BaseException) -> str | None:
    """Return file and line of a challenge at home that an error came through last, None if it never did."""
    if isinstance(error, FigureError):
        return error.place
    for frame, line in reversed(list(traceback.walk_tb(error.__traceback__))):
        if is_at_home(frame.f_code.co_filename):
            return f"{Path(frame.f_code.co_filename).name}, line {line}"
    return None


def _forget_modules_of_others(file: Path) -> None:
    """Let modules beside a file be imported though those of the same names beside another file were."""
    homes = {known.parent for known in (*_files.values(), *_sources.values())} - {file.parent}
    for path in files_at_home(file)[1:]:
        known = getattr(sys.modules.get(path.stem), "__file__", None)
        if known is not None and Path(known).parent in homes:
            del sys.modules[path.stem]


# --- Metrics of one's own: functions in `metrics.py` beside `phase.toml` ---
#
# They are described without running the file, which scorers do, and whoever computes a figure of all cases.

METRICS_FILE = "metrics.py"

_sources: dict[str, Path] = {}
_modules: dict[str, ModuleType] = {}


def functions_beside(folder: Path) -> dict[str, Any] | None:
    """Return the digest of `metrics.py` in a phase folder, and its functions by name, None without the file.

    Of each function: its docstring, its line, and the names after the first two that it takes, and whether it
    needs them. Raises `PhaseError` for a file that cannot be parsed.
    """
    file = _functions_file(folder)
    if file is None:
        return None
    import ast  # most phases have no such file

    content = file.read_bytes()
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        place = METRICS_FILE if line is None else f"{METRICS_FILE}, line {line}"
        raise PhaseError(f"{place}: cannot be run: {type(error).__name__}: {error.args[0]}") from None
    found = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            of = node.args
            plain = [*of.posonlyargs, *of.args]
            required = [one.arg for one in plain[2 : len(plain) - len(of.defaults)]]
            required += [
                one.arg for one, default in zip(of.kwonlyargs, of.kw_defaults, strict=True) if default is None
            ]
            found[node.name] = {
                "card": ast.get_docstring(node) or "",
                "line": node.lineno,
                "values": min(len(plain), 2),
                "asks": {one.arg: one.arg in required for one in (*plain[2:], *of.kwonlyargs)},
            }
    return {"sha256": _known(file, content), "functions": found}


def functions_of(folder: Path, challenge: str) -> str | None:
    """Return the path of the functions of a phase, None for one that is not declared or has none."""
    file = _functions_file(folder) if challenge == DECLARED else None
    return None if file is None else str(file)


def _functions_file(folder: Path) -> Path | None:
    file = folder.absolute() / METRICS_FILE
    return file if file.is_file() else None


def know_functions(file: Path) -> None:
    """Remember a file with functions by its digest."""
    _known(file, file.read_bytes())


def _known(file: Path, content: bytes) -> str:
    digest = sha256_of(content)
    _sources[digest] = file.resolve()
    return digest


def knows_functions(digest: str) -> bool:
    """Return whether this process knows the file with a digest."""
    return digest in _sources


def function_named(name: str, digest: str) -> Callable[..., Any]:
    """Return a function of the file with a digest, which is run once in this process. Raises `PhaseError`."""
    file = _sources.get(digest)
    if file is None:
        needed = f"{METRICS_FILE} with which it was scored, beside the phase (--ground-truth)"
        raise PhaseError(f"{name} is a function of the phase: expected the {needed}")
    if digest not in _modules:
        if sha256_of(file.read_bytes()) != digest:
            raise PhaseError(f"{METRICS_FILE}: differs from the sealed file")
        _modules[digest] = _module_of(file)
    function: Callable[..., Any] = getattr(_modules[digest], name)
    return function


# --- The run time of algorithms as a task of its own, for phases that score it ---

RUN_TIME = "run_time"
"""Name of the task."""
RUN_SECONDS = "run_seconds"
"""Name of the value that the task scores."""


def run_time_task(run_time: RunTime) -> Task:
    """Return the task that scores the run time.

    Metrics: the mean in seconds per case; with a target, the share of cases beyond it; with a penalty per
    second beyond the target, the mean penalty.
    """
    target = run_time.limit_seconds if run_time.target_seconds is None else run_time.target_seconds

    def row(seconds: float) -> dict[str, float]:
        seconds = min(seconds, run_time.limit_seconds)
        penalty = run_time.penalty_per_second * max(0.0, seconds - target)
        return {"seconds": seconds, "slow": float(seconds > target), "penalty": penalty}

    metrics = [mean_metric("seconds", "Run time in seconds", best=0, worst=inf, unit="s")]
    if run_time.target_seconds is not None:
        title = f"Share of cases with more than {target:g} s"
        metrics.append(Metric("slow", title, Share("slow"), best=0, worst=1))
    if run_time.penalty_per_second:
        metrics.append(mean_metric("penalty", "Run time penalty", best=0, worst=inf))
    return Task(
        name=RUN_TIME,
        title="Run time",
        fields=(),
        score=lambda values, reference: row(values[RUN_SECONDS]),
        worst=lambda case, reference: row(inf),
        metrics=tuple(metrics),
    )


# --- Challenges by name, bundled or programmed at home, and the tasks of a phase ---
#
# `evaluation.challenges` is above this package, so a challenge is imported by name when it is needed.

_ROOMS = "evaluation.challenges"


def known_challenges() -> tuple[str, ...]:
    """Return the names of all bundled challenges, sorted."""
    rooms = importlib.import_module(_ROOMS)
    return tuple(sorted(module.name for module in pkgutil.iter_modules(rooms.__path__)))


def challenge_named(name: str) -> Challenge:
    """Return a challenge by name, bundled or loaded. Raises `PhaseError` for an unknown name."""
    if name not in known_challenges():
        if (at_home := _challenges.get(name)) is not None:
            return at_home
        raise PhaseError(
            f"challenge {name!r} is unknown; known are {', '.join(known_challenges())}, and your own is "
            f"defined by a {CHALLENGE_FILE} beside the phase"
        )
    challenge: Challenge = importlib.import_module(module_of(name)).CHALLENGE
    return challenge


def load_home(folder: Path, name: str, file_name: str) -> None:
    """Load the challenge that is programmed beside a phase folder, unless the phase's is a bundled one.

    Raises `PhaseError` if it cannot be loaded or its name differs from ``name``, given in ``file_name``.
    """
    file = find_file(folder)
    if file is None or name in known_challenges():
        return
    challenge = load(file)
    if challenge.name != name:
        if challenge.name in known_challenges():
            raise PhaseError(f"{file}: name: expected none of a bundled challenge, found {challenge.name!r}")
        raise PhaseError(f"{file_name}: challenge: expected {challenge.name!r} as in {file}, found {name!r}")


@dataclass(frozen=True)
class Rules:
    """The challenge of a phase and the options that the phase chose."""

    challenge: Challenge
    options: Options

    def select_tasks(
        self, names: Iterable[str] | None, run_time: RunTime | None, interfaces: Sequence[Interface] = ()
    ) -> tuple[Task, ...]:
        """Return the tasks of a phase: all, or those named, and the run time if it is scored.

        Fields belong to the cases of their interfaces, see `within_interfaces`. Raises `PhaseError` for an
        unknown name and for an empty selection.
        """
        tasks = {task.name: task for task in self.challenge.tasks(self.options)}
        wanted = list(tasks if names is None else names)
        if run_time is not None:
            wanted = [name for name in wanted if name != RUN_TIME]
        if unknown := [name for name in wanted if name not in tasks]:
            raise PhaseError(f"tasks: unknown {', '.join(map(repr, unknown))} (known are {', '.join(tasks)})")
        if not wanted:
            raise PhaseError(f"tasks: expected at least one of {', '.join(tasks)}, found none")
        selected = [task for name, task in tasks.items() if name in wanted]
        scored = [] if run_time is None else [run_time_task(run_time)]
        return within_interfaces((*selected, *scored), interfaces)


def within_interfaces(tasks: tuple[Task, ...], interfaces: Sequence[Interface]) -> tuple[Task, ...]:
    """Return tasks whose fields belong only to the cases of their interfaces; all cases without any."""
    if not interfaces:
        return tasks

    def within(field: AnyFieldType, among: frozenset[str]) -> AnyFieldType:
        every = field.cases
        return replace(field, cases=lambda case: case.columns[INTERFACE] in among and every(case))

    found = []
    for task in tasks:
        owners = {
            field.name: frozenset(item.name for item in interfaces if field.name in item.fields)
            for field in task.fields
        }
        fields = tuple(within(field, owners[field.name]) for field in task.fields)
        hidden = tuple(within(field, frozenset().union(*owners.values())) for field in task.hidden)
        found.append(replace(task, fields=fields, hidden=hidden))
    return tuple(found)


def rules_of(name: str, options: Mapping[str, Any]) -> Rules:
    """Return the rules of a named challenge, or of the one that the options declare.

    Raises `PhaseError` for an unknown name and a faulty declaration, `InvalidTableError` for faulty options.
    """
    return _rules(challenge_named(name), options)


def _rules(challenge: Challenge, options: Mapping[str, Any]) -> Rules:
    chosen = read_table(challenge.options, options)
    if challenge.declare:
        challenge = challenge.declare(chosen)
    columns = {column.name: column for column in challenge.form_columns}
    for field in references_of(challenge.tasks(chosen)):
        kinds = (field.kind, field.reference.kind) if isinstance(field, Field) else (field.reference.kind,)
        for name in (name for kind in kinds for name in kind.case_columns):
            columns.setdefault(name, FormColumn(name))
    return Rules(replace(challenge, form_columns=tuple(columns.values())), chosen)


def tasks_of_form(form: Form) -> tuple[Task, ...]:
    """Return the tasks of a form. Raises `PhaseError` for an unknown name."""
    return rules_of(form.challenge, form.options).select_tasks(form.tasks, form.run_time, form.interfaces)


def reading_of(form: Form) -> Reading:
    """Return the challenge and the options that readers of a submission need, and their modules."""
    rules = rules_of(form.challenge, form.options)
    if rules.challenge.reading is not None:
        return rules.challenge.reading(rules.options)
    return Reading(form.challenge, form.options, tuple(modules_of(form.challenge)))


def tasks_to_read(form: Form) -> tuple[Task, ...]:
    """Return the tasks of a form whose challenge and options are those of `reading_of`."""
    if "." not in form.challenge:  # no name of a part of a package
        return tasks_of_form(form)
    challenge: Challenge = importlib.import_module(module_of(form.challenge)).CHALLENGE
    return _rules(challenge, form.options).select_tasks(form.tasks, form.run_time, form.interfaces)


def module_of(challenge: str) -> str:
    """Return the module of a bundled challenge, which may be part of another's."""
    return f"{_ROOMS}.{challenge}"


def modules_of(challenge: str) -> list[str]:
    """Return the module of a challenge and those below it that this process needed: its kinds and metrics."""
    module = module_of(challenge)
    return [module, *(name for name in sys.modules if name.startswith(f"{module}."))]


# --- A configuration with the challenge that it chooses or declares, its options and its tasks ---


@dataclass(frozen=True)
class Configuration:
    """The configuration of a phase folder: keys, challenge, options, and the tasks that have fields."""

    config: PhaseConfig
    challenge: Challenge
    options: Options
    tasks: tuple[Task, ...]


def read_configuration(folder: Path, only: str | None = None, file: str = FILE_NAME) -> Configuration:
    """Return the configuration in a folder. Raises `PhaseError`, also for a challenge other than ``only``."""
    config = read_config(folder, file)
    if only is not None and config.challenge != only:
        raise PhaseError(f"{file}: challenge: expected {only!r}, found {config.challenge!r}")
    rules = chosen_rules(config, folder, file)
    tasks = rules.select_tasks(config.tasks, config.scored_run_time)
    return Configuration(config, rules.challenge, rules.options, tuple(task for task in tasks if task.fields))


def chosen_rules(config: PhaseConfig, folder: Path, file: str = FILE_NAME) -> Rules:
    """Return the rules that a configuration chooses or declares. Raises `PhaseError` with every fault.

    ``folder`` is the phase folder, beside which a challenge may be programmed.
    """
    load_home(folder, config.challenge, file)
    options = config.options
    if config.challenge == DECLARED and (functions := functions_beside(folder)) is not None:
        options = {**options, FUNCTIONS: functions}
    try:
        return rules_of(config.challenge, options)
    except InvalidTableError as error:
        prefix = challenge_named(config.challenge).options.key_prefix
        raise PhaseError(*error.problems(file, prefix)) from None
    except PhaseError as error:
        raise PhaseError(*(f"{file}: {problem}" for problem in error.problems)) from None
