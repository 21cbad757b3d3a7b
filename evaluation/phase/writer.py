"""Writes phase folders through the fields' own declarations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evaluation.core.challenge import Task, Values, fields_of, references_of
from evaluation.core.field import AnyField, CaseColumns, TableRows
from evaluation.io.tables import write_csv
from evaluation.platform.submission_writer import ArchiveWriter, write_case_file
from evaluation.synthesis.fundus import Quality


@dataclass(frozen=True)
class SampleCase:
    """One case to be written: its name, its further columns of the case table, and its reference values."""

    name: str
    columns: Mapping[str, str]
    reference: Values


def write_phase(
    folder: Path, configuration: str, fields: Sequence[AnyField], cases: Iterable[SampleCase]
) -> None:
    """Write a phase folder: `phase.toml`, `cases.csv` and the reference files; the phase is not sealed."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "phase.toml").write_text(configuration, encoding="utf-8")
    rows: list[list[str]] = []
    header: list[str] = []
    locations = (item.reference.location for item in fields)
    lists: dict[TableRows, list[list[str]]] = {
        location: [] for location in locations if isinstance(location, TableRows)
    }
    for case in cases:
        columns = dict(case.columns)
        for item in fields:
            kind, location = item.reference.kind, item.reference.location
            if item.name not in case.reference:
                continue
            if isinstance(location, CaseColumns):
                cells = kind.write_cells(case.reference[item.name])
                columns |= zip(location.columns, cells, strict=True)
            elif isinstance(location, TableRows):
                found = kind.write_rows(case.reference[item.name])
                lists[location].extend([case.name, *cells] for cells in found)
            else:
                value = case.reference[item.name]
                write_case_file(folder, kind, location, case.name, value, location.extensions[0])
        header = ["name", *columns]
        rows.append([case.name, *columns.values()])
    write_csv(folder / "cases.csv", header, rows)
    for location, rows in lists.items():
        write_csv(folder / location.files[0], [location.key, *location.columns], rows)


@dataclass(frozen=True)
class ArchiveSample:
    """A synthetic phase, and one archive submission of each quality, in folders below ``output``.

    ``extensions`` chooses the submitted files' extensions by the name of their field.
    """

    output: Path
    name: str
    configuration: str
    tasks: Sequence[Task]
    qualities: Sequence[Quality] = tuple(Quality)
    extensions: Mapping[str, str] = field(default_factory=dict)

    def write(
        self,
        cases: int,
        draw: Callable[[int], tuple[SampleCase, Callable[[Quality], Values]]],
        progress: Callable[[int], None],
    ) -> list[Path]:
        """Write the phase and its submissions case by case, and return their folders.

        ``draw`` takes a case's position and returns the case and a function from a quality to its prediction,
        so that one prediction at a time is in memory.
        """
        writers = {
            quality: ArchiveWriter(
                self.output / "submissions" / quality.value, fields_of(self.tasks), self.extensions
            )
            for quality in self.qualities
        }

        def references() -> Iterator[SampleCase]:
            for position in range(cases):
                case, predict = draw(position)
                for quality, writer in writers.items():
                    writer.add(case.name, predict(quality))
                progress(position + 1)
                yield case

        folder = self.output / "ground-truth" / self.name
        write_phase(folder, self.configuration, references_of(self.tasks), references())
        for writer in writers.values():
            writer.close()
        return [folder, *(writer.folder for writer in writers.values())]
