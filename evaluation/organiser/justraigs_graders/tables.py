"""The tables of JustRAIGS: the graders' labels, and the case table made of them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path, PurePosixPath

from evaluation.challenges.justraigs import kinds
from evaluation.challenges.justraigs.analyses import agreed_labels, counting_graders, final_label
from evaluation.challenges.justraigs.rules import FEATURES, NOT_REFERABLE, REFERABLE, UNGRADABLE
from evaluation.core.fault import PhaseError, ReadError
from evaluation.core.form import STACK_INDEX, STACK_NAME, name_key
from evaluation.io.files import ReadBuffer
from evaluation.io.json_files import parse_json
from evaluation.io.kinds.classes import Flags
from evaluation.io.tables import write_csv
from evaluation.phase.cases import TableRow, organiser_table

# --- Reads the organisers' files of JustRAIGS and makes the case table of a phase from them ---

GRADERS = ("G1", "G2", "G3")
ABBREVIATIONS = ("ANRS", "ANRI", "RNFLDS", "RNFLDI", "BCLVS", "BCLVI", "NVT", "DH", "LD", "LC")
"""Names of the features in the graders' table, in the order of `FEATURES`."""

MAIN_LABELS = (REFERABLE, NOT_REFERABLE, UNGRADABLE)
COLUMNS_WITHOUT_STACKS: tuple[str, ...] = (
    *("name", "cluster", "age", kinds.FINAL_COLUMN),
    *(*kinds.LABEL_COLUMNS, *kinds.FEATURE_COLUMNS),
)
CASE_COLUMNS: tuple[str, ...] = ("name", STACK_NAME, STACK_INDEX, *COLUMNS_WITHOUT_STACKS[1:])
_EYE, _FINAL, _FELLOW, _AGE = "Eye ID", "Final Label", "Fellow Eye ID", "Age"
_MARKS: Mapping[str, bool | None] = {"": None, "0": False, "1": True, "0.0": False, "1.0": True}
_KIND = kinds.AgreedFeatures(len(FEATURES), MAIN_LABELS, REFERABLE)
_MAX_FILE_BYTES = 1 << 30


@dataclass(frozen=True)
class Eye:
    """One row of the graders' table; ``graders`` are the names of G1, G2 and G3."""

    line: int
    name: str
    fellow: str
    age: str
    graded: kinds.GradedEye
    graders: tuple[str, ...] = GRADERS

    @property
    def final(self) -> str:
        """The final label."""
        return final_label(*self.graded.labels)

    @property
    def decided_by(self) -> str:
        """Who gave the final label."""
        return "both graders" if self.graded.labels[0] == self.graded.labels[1] else "specialist"

    @property
    def roles(self) -> list[int]:
        """The positions of the graders who gave a label."""
        return [role for role, label in enumerate(self.graded.labels) if label]

    def agreed_features(self, specialist_alone: bool = False) -> Flags | None:
        """Return the features on which the graders who count agree; None for an eye that is not referable."""
        if self.final != REFERABLE:
            return None
        counting = counting_graders(self.graded.labels, specialist_alone)
        return agreed_labels([self.graded.features[grader] for grader in counting])


def read_graders(path: Path) -> list[Eye]:
    """Return the rows of a graders' table (comma, semicolon or tab).

    The optional columns "Grader G1", "Grader G2" and "Grader G3" hold the names of the graders. Raises
    `PhaseError` with every fault, such as a final label that contradicts the graders' labels, or a
    disagreement without a specialist.
    """
    features = [[f"{grader} {feature}" for feature in ABBREVIATIONS] for grader in GRADERS]
    label_columns = [f"Label {grader}" for grader in GRADERS]
    identity_columns = [f"Grader {grader}" for grader in GRADERS]
    required = (_EYE, _FINAL, _FELLOW, _AGE, *label_columns, *chain(*features))
    with organiser_table(path, required, identity_columns) as table:
        named = [column for column in identity_columns if column in table.columns]
        if named and named != identity_columns:
            expected = ", ".join(identity_columns)
            raise PhaseError(f"{table.file}: expected all or none of {expected}, found {', '.join(named)}")
        eyes = []
        for row in table.rows:
            labels = tuple(row.cells[column].upper() for column in label_columns)
            _check_labels(row, labels)
            for column in chain(*features):
                if row.cells[column] not in _MARKS:
                    row.fault(column, f"expected 0, 1 or nothing, found {row.cells[column]!r}")
            flags = tuple(tuple(_MARKS.get(row.cells[column]) for column in of) for of in features)
            eyes.append(
                Eye(
                    line=row.line,
                    name=row.cells[_EYE],
                    fellow=row.cells[_FELLOW],
                    age=row.cells[_AGE],
                    graded=kinds.GradedEye(labels, flags),
                    graders=tuple(row.cells[column] for column in named) or GRADERS,
                )
            )
    return eyes


def _check_labels(row: TableRow, labels: Sequence[str]) -> None:
    """Add the faults of an eye's name and labels to the faults of the table."""
    before = len(row.faults)
    if not row.cells[_EYE]:
        row.fault(_EYE, "expected the name of an eye, found nothing")
    for position, label in enumerate(labels):
        if label not in MAIN_LABELS and (label or position < 2):
            row.fault(f"Label {GRADERS[position]}", f"expected {', '.join(MAIN_LABELS)}, found {label!r}")
    if len(row.faults) > before:
        return
    given, final = final_label(*labels), row.cells[_FINAL].upper()
    if not given:
        row.fault("Label G3", "expected a specialist where G1 and G2 disagree, found nothing")
    elif final != given:
        row.fault(_FINAL, f"expected {given} as the graders' labels give it, found {final!r}")


def read_mapping(path: Path) -> list[tuple[str, int, str]]:
    """Return stack, index and eye of each image of `archive_item_to_content_mapping.json`.

    Raises `PhaseError` with every fault.
    """
    try:
        content = parse_json(ReadBuffer().read(path.parent, path.name, limit_bytes=_MAX_FILE_BYTES))
    except ReadError as error:
        raise PhaseError(str(error.fault(path.name))) from None
    if not isinstance(content, list):
        raise PhaseError(f"{path.name}: expected a list of images, found something else")
    entries, problems = [], []
    for position, item in enumerate(content):
        keys = (STACK_NAME, STACK_INDEX, "image")
        match [item.get(key) for key in keys] if isinstance(item, dict) else None:
            case [str(stack), int(index), str(image)] if not isinstance(index, bool):
                entries.append((stack, index, PurePosixPath(image).stem))
            case _:
                found = str(item)[:80]
                problems.append(f"{path.name}[{position}]: expected {', '.join(keys)}, found {found}")
    PhaseError.raise_all(problems)
    return entries


def write_case_table(path: Path, eyes: Sequence[Eye], mapping: Path | None, file: str) -> None:
    """Write the case table, sorted by name: the eyes of the mapping, with persons as clusters.

    Eyes outside of the mapping belong to another phase. Without a mapping (None) the rows are of all eyes and
    have no columns of stacks. file: the name of the graders' table. Raises `PhaseError` with every fault of
    the mapping, else listing every eye that is duplicate or not graded, or whose fellow eye names another
    fellow.
    """
    entries = None if mapping is None else read_mapping(mapping)
    by_key = {name_key(eye.name): eye for eye in eyes}
    problems = list(_faults_of_eyes(eyes, by_key, file))
    if entries is not None:
        problems += _repeated((eye for _, _, eye in entries), "mapping: duplicate eye {} in {} entries")
        problems += [
            f"{file}: expected a row for {eye}, which the mapping names, found none"
            for _, _, eye in entries
            if name_key(eye) not in by_key
        ]
    PhaseError.raise_all(problems)
    pairs: list[tuple[Eye, tuple[str, ...]]] = [(eye, ()) for eye in eyes]
    if entries is not None:
        pairs = [(by_key[name_key(eye)], (stack, str(index))) for stack, index, eye in entries]
    rows = []
    for eye, place in sorted(pairs, key=lambda pair: pair[0].name):
        fellow = by_key.get(name_key(eye.fellow))
        cluster = min(eye.name, fellow.name) if fellow is not None else ""
        rows.append([eye.name, *place, cluster, eye.age, *_KIND.write_cells(eye.graded)])
    write_csv(path, COLUMNS_WITHOUT_STACKS if entries is None else CASE_COLUMNS, rows)


def _faults_of_eyes(eyes: Sequence[Eye], by_key: Mapping[str, Eye], file: str) -> Iterator[str]:
    yield from _repeated((eye.name for eye in eyes), f"{file}: duplicate eye {{}} in {{}} rows")
    for eye in eyes:
        other = by_key.get(name_key(eye.fellow)) if eye.fellow else None
        if other is not None and name_key(other.fellow) != name_key(eye.name):
            expected = f"expected {other.name} to have the fellow eye {eye.name}"
            yield f"{file}, line {eye.line}: {expected}, found {other.fellow or 'none'}"


def _repeated(names: Iterable[str], message: str) -> list[str]:
    counts = Counter(map(name_key, names))
    return [message.format(name, count) for name, count in counts.items() if count > 1]
