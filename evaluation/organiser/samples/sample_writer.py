"""What samples have in common: the template of their `phase.toml`, and an archive of each quality."""

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from string import Template

from evaluation.core.challenge import Task, Values, fields_of, references_of
from evaluation.organiser.samples.fundus import Quality
from evaluation.organiser.submission_writer import ArchiveWriter, SampleCase, write_phase


def template(name: str) -> Template:
    """Return the template of a sample's `phase.toml`, or of a part of it."""
    path = files(__package__) / "templates" / f"{name}.toml"
    return Template(path.read_text(encoding="utf-8"))


def configured(name: str, arguments: argparse.Namespace, /, **values: object) -> str:
    """Return a `phase.toml` made of a template, the arguments of the command and further values."""
    return template(name).substitute(vars(arguments) | values)


def write_archive_sample(
    arguments: argparse.Namespace,
    configuration: str,
    tasks: Sequence[Task],
    cases: int,
    draw: Callable[[int], tuple[SampleCase, Callable[[Quality], Values]]],
    progress: Callable[[int], None],
    qualities: Sequence[Quality] = tuple(Quality),
    extensions: Mapping[str, str] | None = None,
) -> list[Path]:
    """Write a synthetic phase and an archive submission of each quality, and return their folders.

    They are below ``arguments.output``; ``arguments.name`` is the name of the phase. ``draw`` takes a case's
    position and returns the case and a function from a quality to its prediction, so that one prediction at a
    time is in memory. ``extensions`` chooses the submitted files' extensions by the name of their field.
    """
    fields, submissions = fields_of(tasks), arguments.output / "submissions"
    writers = {
        quality: ArchiveWriter(submissions / quality.value, fields, extensions or {}) for quality in qualities
    }

    def references() -> Iterator[SampleCase]:
        for position in range(cases):
            case, predict = draw(position)
            for quality, writer in writers.items():
                writer.add(case.name, predict(quality))
            progress(position + 1)
            yield case

    folder = arguments.output / "ground-truth" / arguments.name
    write_phase(folder, configuration, references_of(tasks), references())
    for writer in writers.values():
        writer.close()
    return [folder, *(writer.folder for writer in writers.values())]
