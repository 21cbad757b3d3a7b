"""The results of many teams in one phase, read as `evaluate` writes them, and the teams' roles."""

import json
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from evaluation.core.case_table import CaseTable
from evaluation.core.challenge import Challenge, Composite, Options, Task, metrics_of, with_titles
from evaluation.core.fault import PhaseError
from evaluation.core.metric import Metric
from evaluation.core.resampling import Resampling
from evaluation.core.trouble import raise_trouble_of
from evaluation.io.json_files import read_json
from evaluation.phase.cases import organiser_table
from evaluation.phase.leaderboard import ALL_OTHERS, ELIGIBLE, TEAM, is_yes
from evaluation.phase.places import Better
from evaluation.phase.registry import Rules, rules_of
from evaluation.phase.scores import RecordedCases, RecordedColumns, read_case_records
from evaluation.phase.validation import InvalidTableError
from evaluation.platform.result_file import as_written


@dataclass(frozen=True)
class Submission:
    """One submission's metrics by name ("task.metric") and its case tables by task, if available.

    ``values`` have the digits of `metrics.json`, which the platform ranks. ``exact`` decide places here: all
    digits, or those that the phase states; without results per case they are the same.
    ``absence``: why a submission has no metrics. ``seconds``: the mean run time for a case, if known.
    """

    team: str
    name: str
    values: Mapping[str, float]
    tables: Mapping[str, CaseTable] | None = None
    absence: str | None = None
    seconds: float | None = None
    more_digits: Mapping[str, float] | None = None

    @property
    def exact(self) -> Mapping[str, float]:
        """The values that decide places."""
        return self.values if self.more_digits is None else self.more_digits


@dataclass(frozen=True)
class PhaseResults:
    """All submissions of one phase, sorted by team and in their order.

    ``compare_with``: the opponents of each team of ``ineligible`` that has any. ``chosen_here``: the
    ensembles whose members were chosen by results on the cases of this phase. ``notices``: what was decided
    on reading. ``platform_ranks``: those of the teams in exported evaluations, 0 for none.
    """

    challenge: Challenge
    options: Options
    tasks: tuple[Task, ...]
    phase: str
    manifest: str
    submissions: tuple[Submission, ...]
    ineligible: frozenset[str] = frozenset()
    cases: RecordedColumns | None = None
    resampling: Resampling | None = None
    compare_with: Mapping[str, Sequence[str]] = field(default_factory=dict)
    chosen_here: frozenset[str] = frozenset()
    notices: tuple[str, ...] = ()
    platform_ranks: Mapping[str, int] = field(default_factory=dict)

    @property
    def metrics(self) -> dict[str, Metric]:
        """The metrics of the phase by name."""
        return metrics_of(self.tasks)

    @property
    def titles(self) -> Mapping[str, str]:
        """The words of the phase for names in its files, if results per case are known."""
        return self.cases.titles if self.cases else {}

    @property
    def figures(self) -> dict[str, Metric | Composite]:
        """Metrics and composites by name: everything that can be ranked."""
        return self.challenge.figures_of(self.tasks)

    @property
    def better(self) -> dict[str, Better]:
        """The better direction of each of them."""
        return {name: figure.better for name, figure in self.figures.items()}


# --- The file `teams.csv` beside the results: which teams are ranked, listed, and compared with others ---

LISTED, COMPARE_WITH, CHOSEN_ON, SEPARATOR = "listed", "compare_with", "chosen_on", ";"
SECONDS = "seconds_per_case"


def with_roles(results: PhaseResults, path: Path, problems: Sequence[str] = ()) -> PhaseResults:
    """Return results with the roles of their teams. Raises `PhaseError` with all faults, known ones too.

    team          a folder of results
    eligible      no: listed without a place
    listed        no: left out altogether, as if there were no results
    compare_with  of a team without a place: its opponents, with ";" between; * for all ranked teams
    chosen_on     of an ensemble: the phases by whose results its members were chosen, with ";" between

    seconds_per_case  how long the method takes for a case, instead of the run times of the platform

    An empty cell or a missing column means yes, or no comparison. Other columns are remarks.
    """
    if not path.is_file():
        PhaseError.raise_all(problems)
        return results
    teams = {one.team for one in results.submissions}
    ineligible, unlisted, chosen_here = set[str](), set[str](), set[str]()
    compared, seconds = dict[str, tuple[str, ...]](), dict[str, float]()
    try:
        with organiser_table(path, (TEAM,)) as table:
            for row in table.rows:
                team = row.cells[TEAM]
                if team not in teams:
                    row.fault(TEAM, f"{team!r} has no folder")
                if not is_yes(row, ELIGIBLE):
                    ineligible.add(team)
                if not is_yes(row, LISTED):
                    unlisted.add(team)
                if row.cells.get(SECONDS):
                    seconds[team] = row.number(SECONDS)
                    if seconds[team] <= 0:
                        row.fault(SECONDS, f"expected a number above 0, found {row.cells[SECONDS]}")
                if opponents := _names(row.cells.get(COMPARE_WITH, "")):
                    compared[team] = opponents
                if results.phase in _names(row.cells.get(CHOSEN_ON, "")):
                    chosen_here.add(team)
    except PhaseError as error:
        raise PhaseError(*problems, *(f"{path.parent}: {problem}" for problem in error.problems)) from None
    PhaseError.raise_all(problems)
    return replace(
        results,
        submissions=tuple(
            replace(one, seconds=seconds.get(one.team, one.seconds))
            for one in results.submissions
            if one.team not in unlisted
        ),
        ineligible=frozenset(ineligible - unlisted),
        compare_with={team: names for team, names in compared.items() if team not in unlisted},
        chosen_here=frozenset(chosen_here - unlisted),
    )


def _names(cell: str) -> tuple[str, ...]:
    return tuple(filter(None, map(str.strip, cell.split(SEPARATOR))))


# --- The folder of results ---

METRICS, CASES, REJECTED, TEAMS = "metrics.json", "cases.json", "rejected.txt", "teams.csv"


@dataclass(frozen=True)
class _Identity:
    """The phase of a result: equal for all submissions that are ranked together."""

    challenge: str
    name: str
    manifest: str
    options: str


@dataclass(frozen=True)
class Result:
    """A submission: the content of its `metrics.json`, or why it has none; and its place, for messages."""

    team: str
    name: str
    place: Path
    content: Any
    absence: str | None = None


def read_results(folder: Path) -> PhaseResults:
    """Read the results below a folder. Raises `PhaseError` listing every problem.

    FOLDER/<team>/metrics.json               one submission; beside it cases.json, where there is one
    FOLDER/<team>/<submission>/metrics.json  several, in the natural order of their names
    FOLDER/teams.csv                         optional, see `with_roles`

    Exact values are known where every submission has its `cases.json`.
    """
    if not folder.is_dir():
        raise PhaseError(f"{folder}: is not a folder")
    problems: list[str] = []
    places = [(team.name, *one) for team in _folders(folder) for one in _submissions_of(team, problems)]
    if not places:
        of_one = f"; {METRICS} in it is that of one submission" if (folder / METRICS).is_file() else ""
        expected = f"expected FOLDER/<team>/{METRICS}{of_one}"
        raise PhaseError(f"{folder}: contains no results ({expected})", *problems)
    found = []
    for team, name, place in places:
        content = _read_json(place / METRICS, problems)
        found.append(Result(team, name, place, content, None if content is not None else _absence(place)))
    return results_of(folder, found, folder / TEAMS, problems)


def results_of(
    source: Path, found: Sequence[Result], roles: Path, problems: list[str] | None = None
) -> PhaseResults:
    """Return the results of submissions in the order of teams and names, with the roles of their teams.

    ``problems`` are known faults. Raises `PhaseError` listing every problem.
    """
    problems = problems or []
    identity = _common_identity(source, found, problems)
    rules = _rules_of(identity)
    tasks = rules.challenge.tasks(rules.options)
    ranked = {*rules.challenge.figures_of(tasks)}
    case_files = _CaseFiles(identity, tasks, rules.challenge.composites, problems)
    submissions = []
    for one in found:
        if one.absence is not None:
            submissions.append(Submission(one.team, one.name, {}, absence=one.absence))
            continue
        submission = Submission(one.team, one.name, _values(one.content, ranked, one.place, problems))
        path = one.place / CASES
        submissions.append(case_files.added(submission, path) if path.is_file() else submission)
    if any(one.more_digits is None for one in submissions if one.absence is None):
        submissions = [replace(one, more_digits=None) for one in submissions]
    cases = case_files.columns
    titles = cases.titles if cases else {}
    results = PhaseResults(
        challenge=rules.challenge.titled(titles),
        options=rules.options,
        tasks=with_titles(tasks, titles),
        phase=identity.name,
        manifest=identity.manifest,
        submissions=tuple(submissions),
        cases=cases,
        resampling=case_files.resampling,
    )
    return with_roles(results, roles, problems)


def _common_identity(source: Path, found: Sequence[Result], problems: list[str]) -> _Identity:
    """Return the phase of all results. Raises `PhaseError`; results of others are added to the problems."""
    identities = {one.place: _identity(one, problems) for one in found if one.absence is None}
    known = {place: identity for place, identity in identities.items() if identity}
    if problems or not known:
        raise PhaseError(*problems or [f"{source}: no team has a result"])
    identity = next(iter(known.values()))
    for place, other in known.items():
        differing = (key for key, value in vars(identity).items() if getattr(other, key) != value)
        if (key := next(differing, None)) is not None:
            expected = f"expected {key} {getattr(identity, key)!r} as in the first result"
            problems.append(f"{place / METRICS}: {expected}, found {getattr(other, key)!r}")
    return identity


def _rules_of(identity: _Identity) -> Rules:
    try:
        return rules_of(identity.challenge, json.loads(identity.options))
    except PhaseError as error:
        raise PhaseError(f"{METRICS}: phase: {error}") from None
    except InvalidTableError as error:
        raise PhaseError(*error.problems(METRICS, "phase.options.")) from None


@dataclass
class _CaseFiles:
    """The files `cases.json` of all submissions: columns of the cases, the same for all, and resampling."""

    identity: _Identity
    tasks: tuple[Task, ...]
    composites: Sequence[Composite]
    problems: list[str]
    columns: RecordedColumns | None = None
    resampling: Resampling | None = None

    def added(self, submission: Submission, path: Path) -> Submission:
        """Return a submission with the results per case of its file, where there is one."""
        recorded = _read_json(path, self.problems)
        if recorded is None or not (read := self._read(path, recorded)):
            return submission
        if self.columns is not None and read.cases.names != self.columns.names:
            self.problems.append(f"{path}: has other cases than the results before it")
        self.columns = self.columns or read.cases
        self.resampling = read.resampling
        exact = _exact_values(recorded, submission.values, self.composites)
        return replace(submission, tables=read.tables, seconds=read.seconds_per_case, more_digits=exact)

    def _read(self, path: Path, content: Any) -> RecordedCases | None:
        try:
            if content["manifest"] != self.identity.manifest:
                self.problems.append(f"{path}: belongs to another phase than {METRICS}")
                return None
            return read_case_records(content, self.tasks)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            self.problems.append(f"{path}: is not a per-case file of this package ({error})")
            return None


def _folders(folder: Path) -> list[Path]:
    found = [path for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")]
    return sorted(found, key=lambda path: natural_order(path.name))


def natural_order(name: str) -> list[tuple[int, int, str]]:
    """Return a key that sorts "2" before "10"."""
    return [
        (0, int(part), "") if part.isdecimal() and part.isascii() else (1, 0, part)
        for part in re.split(r"([0-9]+)", name)
        if part
    ]


def _submissions_of(team: Path, problems: list[str]) -> Iterator[tuple[str, Path]]:
    def is_result(place: Path) -> bool:
        return (place / METRICS).is_file() or (place / REJECTED).is_file()

    nested = [place for place in _folders(team) if is_result(place)]
    if is_result(team):
        if nested:
            problems.append(f"{team}: contains a result and also sub-folders with results")
        yield "", team
    elif nested:
        yield from ((place.name, place) for place in nested)
    else:
        yield "", team


def _read_json(path: Path, problems: list[str]) -> Any:
    """Return the content of a JSON file, None where the file is missing. Raises `MachineTrouble`."""
    try:
        content = read_json(path)
    except FileNotFoundError:
        return None
    except PhaseError as error:
        problems += error.problems
        return None
    if content is None:
        problems.append(f"{path}: expected an object, found null")
    return content


def _absence(place: Path) -> str:
    try:
        return (place / REJECTED).read_text(encoding="utf-8").splitlines()[0]
    except (OSError, IndexError) as error:
        raise_trouble_of(error, "read", place / REJECTED)
        return f"no {METRICS}"


def _identity(one: Result, problems: list[str]) -> _Identity | None:
    try:
        phase = one.content["phase"]
        challenge, name, manifest = (str(phase[key]) for key in ("challenge", "name", "manifest"))
        return _Identity(challenge, name, manifest, json.dumps(phase["options"], sort_keys=True))
    except (KeyError, TypeError):
        problems.append(f"{one.place / METRICS}: is not a {METRICS} of this package")
        return None


def _values(content: Any, ranked: Collection[str], place: Path, problems: list[str]) -> dict[str, float]:
    """Return the metrics and composites of a metrics.json by name."""
    try:
        found = _values_in(content["aggregates"])
        composites = content.get("ranking", {}).get("composites", {})
        found |= {name: estimate["value"] for name, estimate in composites.items()}
    except (KeyError, TypeError, AttributeError):
        problems.append(f"{place / METRICS}: is not a {METRICS} of this package")
        return {}
    values: dict[str, float] = {}
    for name, value in found.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            problems.append(f"{place / METRICS}: {name}: expected a number, found {value!r}")
        elif name in ranked:
            values[name] = float(value)
    return values


def _values_in(aggregates: Any) -> dict[str, Any]:
    """Return the values of metrics by "task.metric"."""
    by_task = ((task, *one) for task, estimates in aggregates.items() for one in estimates.items())
    return {f"{task}.{name}": estimate["value"] for task, name, estimate in by_task}


def _exact_values(
    recorded: Any, published: Mapping[str, float], composites: Sequence[Composite]
) -> dict[str, float] | None:
    """Return published values with the digits of a `cases.json`, or with those that its phase states.

    None where the file has no figures.
    """
    try:
        exact = {name: float(value) for name, value in _values_in(recorded["figures"]["aggregates"]).items()}
        stated = {str(name): int(digits) for name, digits in recorded.get("stated_digits", {}).items()}
    except (KeyError, TypeError, AttributeError, ValueError):
        return None  # a file of an earlier version
    exact |= {
        one.name: one.combine(*(exact[name] for name in one.metrics))
        for one in composites
        if exact.keys() >= set(one.metrics)
    }

    def of(name: str) -> float:
        digits = stated.get(name, stated.get(ALL_OTHERS))
        return as_written(exact[name]) if digits is None else round(exact[name], digits)

    return {name: of(name) if name in exact else value for name, value in published.items()}
