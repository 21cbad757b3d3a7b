"""A phase with a part of another phase's cases, such as a development phase on a tenth of the test set.

The part is drawn at random within strata, so that it has the same prevalence. Its folder holds the rows and
reference files of the drawn cases. Stacks of images are written anew, as the rows say.
"""

import json
import re
import shutil
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from evaluation.core.challenge import references_of
from evaluation.core.fault import PhaseError
from evaluation.core.field import TableRows
from evaluation.core.form import STACK_INDEX, STACK_NAME, name_key
from evaluation.io.tables import is_number, write_csv
from evaluation.organiser.audit import label_columns
from evaluation.organiser.output import whole_folder
from evaluation.phase import cases, config, registry
from evaluation.phase.cases import group_labels, key_of, organiser_table
from evaluation.phase.manifest import scan
from evaluation.phase.phase import Phase, load_phase

Stratum = tuple[str, ...]


def apportion(sizes: Mapping[str, int], total: int) -> dict[str, int]:
    """Divide a total among groups in proportion to their sizes.

    Exact parts are rounded up for the largest remainders, of equal ones the first, else down (Hamilton's
    method). total: at most the sum of the sizes. Empty without groups.
    """
    exact = {name: Fraction(total * size, sum(sizes.values())) for name, size in sizes.items() if size}
    parts = {name: int(value) for name, value in exact.items()}
    by_remainder = sorted(exact, key=lambda name: parts[name] - exact[name])
    for name in by_remainder[: total - sum(parts.values())]:
        parts[name] += 1
    return dict.fromkeys(sizes, 0) | parts


def draw_part(strata: Sequence[Stratum], share: Fraction, seed: int) -> list[int]:
    """Return the positions of the drawn cases, ascending: their share of all, rounded half up.

    strata: for each case its values, equally many. The first value gets its share exactly, see `apportion`;
    within it the second, and so on. Within a stratum, all sets of cases have equal chances. The draw depends
    on the strata, the order of the cases, the share and the seed alone.
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    total = int((2 * share * len(strata) + 1) // 2)
    return sorted(_draw(range(len(strata)), strata, 0, total, rng))


def _draw(
    positions: Sequence[int], strata: Sequence[Stratum], depth: int, total: int, rng: np.random.Generator
) -> list[int]:
    """Return a number of positions with strata that have the same values before a depth."""
    if not positions or depth == len(strata[positions[0]]):
        drawn: list[int] = rng.permutation(np.array(positions, dtype=np.int64))[:total].tolist()
        return drawn
    groups: dict[str, list[int]] = defaultdict(list)
    for position in sorted(positions, key=lambda position: strata[position][depth]):
        groups[strata[position][depth]].append(position)
    parts = apportion({value: len(members) for value, members in groups.items()}, total)
    return [
        position
        for value, members in groups.items()
        for position in _draw(members, strata, depth + 1, parts[value], rng)
    ]


_MOST_VALUES = 10


@dataclass(frozen=True)
class DrawnCases:
    """The drawn cases of a phase by position, and the number drawn from each stratum.

    ``columns`` define the strata; ``counts`` holds the drawn and all cases of each stratum.
    """

    positions: tuple[int, ...]
    columns: tuple[str, ...]
    counts: dict[Stratum, tuple[int, int]]


def draw(phase: Phase, share: Fraction, columns: Sequence[str] = (), seed: int = 0) -> DrawnCases:
    """Return a part of the cases of a phase, drawn within strata by columns of its case table.

    The first column's values get their share exactly, within them the second's, and so on.
    A column with bins among the phase's subgroups is cut at them. By default the strata are the first label
    in the case table that has 2 to 10 values, if there is one. Raises `PhaseError` for a column that is
    unknown or has more than 10 values, and for a share that draws no case.
    """
    labels = (column for column in label_columns(phase) if column in phase.cases.columns)
    several = (
        (column,) for column in labels if 2 <= len({row.cells[column] for row in phase.rows}) <= _MOST_VALUES
    )
    chosen = tuple(columns) or next(several, ())
    unknown = [column for column in chosen if column not in phase.cases.columns]
    problems = [f"{cases.FILE_NAME}: column {column!r} is missing" for column in unknown]
    cells = [_values(phase, column, problems) for column in chosen if column not in unknown]
    PhaseError.raise_all(problems)
    strata: list[Stratum] = list(zip(*cells, strict=True)) if cells else [()] * len(phase.rows)
    positions = tuple(draw_part(strata, share, seed))
    if not positions:
        raise PhaseError(f"share: expected at least one of {len(strata)} cases, found none")
    all_counts, drawn = Counter(strata), Counter(strata[position] for position in positions)
    counts = {stratum: (drawn[stratum], number) for stratum, number in sorted(all_counts.items())}
    return DrawnCases(positions, chosen, counts)


def write_subset(
    phase: Phase,
    part: DrawnCases,
    output: Path,
    name: str,
    title: str | None = None,
    stack: int | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> list[str]:
    """Write the phase folder of a part, ready to seal, and return the sealed files that it leaves out.

    name, title: of the new phase; by default it keeps the title. stack: most images of a stack, by default as
    in the largest. progress: called with the number of cases done. Files that belong to no case are left out,
    such as `leaderboard.csv`, which is about all cases. Raises `PhaseError`, and writes nothing, where the
    part is not a valid phase.
    """
    forms = [phase.cases.forms[position] for position in part.positions]
    with whole_folder(output) as folder:
        configuration = _configuration(phase, name, title)
        (folder / config.FILE_NAME).write_text(configuration, encoding="utf-8", newline="\n")
        _write_cases(phase, part, folder, name, stack)
        known = {config.FILE_NAME, cases.FILE_NAME}
        known |= _write_row_tables(phase, {name_key(form.name) for form in forms}, folder)
        known |= {path for paths in phase.reference_paths.values() for path in paths.values()}
        for done, form in enumerate(forms, start=1):
            for location in phase.reference_paths.values():
                path = location.get(form.name)
                if path is not None and not (folder / path).exists():
                    (folder / path).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(phase.folder / path, folder / path)
            progress(done)
        functions = registry.functions_of(phase.folder, phase.challenge.name)
        for code in registry.files_at_home(Path(functions)) if functions else ():
            shutil.copyfile(code, folder / code.name)
            known.add(code.name)
        known.add(registry.CHALLENGE_FILE)
        load_phase(folder, scan(folder))
        # Copied last: this process has the challenge, and would later look for the copy here.
        # Not copied where the new phase finds the file beside it.
        file = registry.find_file(phase.folder)
        beside = file is not None and file.parent == phase.folder.absolute()
        if file is not None and (beside or registry.find_file(output) is None):
            for home in registry.files_at_home(file):
                shutil.copyfile(home, folder / home.name)
    return [path for path in phase.manifest.files if path not in known]


def _values(phase: Phase, column: str, problems: list[str]) -> list[str]:
    """Return the value of every case in a column, or its bin."""
    for subgroup in phase.config.subgroups:
        if subgroup.column == column and subgroup.bins:
            return list(map(key_of, group_labels(subgroup, [row.cells[column] for row in phase.rows])))
    values = [row.cells[column] for row in phase.rows]
    if (count := len(set(values))) > _MOST_VALUES:
        remedy = " (bins in [[subgroups]] cut numbers)" if all(map(is_number, filter(None, values))) else ""
        problems.append(
            f"{cases.FILE_NAME}, {column}: expected at most {_MOST_VALUES} values, found {count}{remedy}"
        )
    return values


def _configuration(phase: Phase, name: str, title: str | None) -> str:
    """Return the configuration with another name and title; everything else stays as it is written."""
    text = (phase.folder / config.FILE_NAME).read_text(encoding="utf-8")
    head, table, tables = text.partition("\n[")
    for key, value in (("name", name), ("title", title)):
        if value is not None:
            line = re.compile(rf"^{key}[ \t]*=.*$", re.MULTILINE)
            if (found := len(line.findall(head))) != 1:
                expected = f"the key {key!r} once, on a line of its own"
                raise PhaseError(f"{config.FILE_NAME}: expected {expected}, found {found}")
            written = f"{key} = {json.dumps(value, ensure_ascii=False)}"
            head = written.join(line.split(head))
    return head + table + tables


def _write_cases(phase: Phase, part: DrawnCases, folder: Path, name: str, stack: int | None) -> None:
    """Write the rows of the drawn cases; the stacks are filled in the order of the cases' names."""
    rows = [dict(phase.rows[position].cells) for position in part.positions]
    if phase.config.submission == "algorithm" and STACK_NAME in phase.cases.columns:
        stacks = Counter(row.cells[STACK_NAME] for row in phase.rows)
        size = stack or max(stacks.values())
        first = next(iter(stacks))
        extension = first[first.index(".") :] if "." in first else ""
        for position, row in enumerate(rows):
            row[STACK_NAME] = f"{name}_{position // size + 1:04d}{extension}"
            row[STACK_INDEX] = str(position % size)
    columns = phase.cases.columns
    write_csv(folder / cases.FILE_NAME, columns, ([row[column] for column in columns] for row in rows))


def _write_row_tables(phase: Phase, drawn: set[str], folder: Path) -> set[str]:
    """Write the tables of reference rows with the rows of the drawn cases, and return their paths."""
    written = set()
    for field in references_of(phase.tasks):
        location = field.reference.location
        if not isinstance(location, TableRows) or location.files[0] in written:
            continue
        path = location.files[0]
        with organiser_table(phase.folder / path, (location.key, *location.columns)) as table:
            rows = [row.cells for row in table.rows if name_key(row.cells[location.key]) in drawn]
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        write_csv(folder / path, table.columns, ([row[column] for column in table.columns] for row in rows))
        written.add(path)
    return written
