"""Which predictions belong to which labels, by their names."""

import os
import shutil
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluation.core.fault import PhaseError
from evaluation.core.form import name_key
from evaluation.core.formats import format_of_name
from evaluation.io.pixels import values_in_words


@dataclass(frozen=True)
class Pairs:
    """The cases of labels, and what predictions have for them; ``notes`` name what does not match."""

    labels: Mapping[str, str]
    predictions: Mapping[str, str]
    notes: tuple[str, ...]


def pairs_of(labels: Sequence[str], predictions: Sequence[str]) -> Pairs:
    """Return labels and predictions by the names of the cases, which are those of the labels.

    Names are compared without the extension of a file and in any letter case. Raises `PhaseError` for names
    that occur twice, and where none match.
    """
    of_labels, of_predictions = _by_key(labels, "labels"), _by_key(predictions, "predictions")
    if not of_labels.keys() & of_predictions.keys():
        found = f"{values_in_words(labels) or 'none'} and {values_in_words(predictions) or 'none'}"
        raise PhaseError(f"expected labels and predictions of the same names, found {found}")
    missing = [name for key, name in of_labels.items() if key not in of_predictions]
    unknown = [name for key, name in of_predictions.items() if key not in of_labels]
    notes = []
    if missing:
        notes.append(f"without a prediction, counted as worst: {values_in_words(missing)}")
    if unknown:
        notes.append(f"without a label, left out: {values_in_words(unknown)}")
    cases = {key: name[: len(name_key(name))] for key, name in of_labels.items()}
    return Pairs(
        {case: of_labels[key] for key, case in cases.items()},
        {case: of_predictions[key] for key, case in cases.items() if key in of_predictions},
        tuple(notes),
    )


def _by_key(names: Iterable[str], of: str) -> dict[str, str]:
    found: dict[str, list[str]] = defaultdict(list)
    for name in names:
        found[name_key(name)].append(name)
    PhaseError.raise_all(
        [f"{of}: expected every name once, found {', '.join(same)}" for same in found.values() if same[1:]]
    )
    return {key: name for key, (name,) in found.items()}


def images_in(folder: Path) -> list[str]:
    """Return the names of the images and volumes in a folder, sorted. Raises `PhaseError` for none."""
    names = sorted(entry.name for entry in os.scandir(folder) if entry.is_file())
    images = [name for name in names if (row := format_of_name(name)) is not None and row.dimensions]
    if not images:
        found = values_in_words(names) or "nothing"
        raise PhaseError(f"{folder}: expected images or volumes, found {found}")
    return images


def place(source: Path, target: Path, *, copied: bool) -> None:
    """Make a file appear in another folder, as a link where it need not be ``copied`` and can be one."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if not copied:
        try:
            os.link(source.resolve(), target)
            return
        except OSError:  # another file system, or one without links
            pass
    shutil.copyfile(source, target)
