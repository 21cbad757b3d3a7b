"""Synthetic JustRAIGS phases: eyes of persons, disagreeing graders, stacks, submissions of known quality."""

import argparse
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from evaluation.challenges.justraigs import kinds
from evaluation.challenges.justraigs.analyses import agreed_labels, counting_graders
from evaluation.challenges.justraigs.rules import (
    CHALLENGE,
    FEATURES,
    NOT_REFERABLE,
    REFERABLE,
    UNGRADABLE,
    JustraigsOptions,
)
from evaluation.cli.common import Argument
from evaluation.core.challenge import fields_of, references_of
from evaluation.core.form import STACK_INDEX, STACK_NAME
from evaluation.io.kinds.classes import Flags
from evaluation.io.tables import write_csv
from evaluation.organiser.samples.images import Quality, configured
from evaluation.organiser.samples.images import likelihoods as likelihoods_of
from evaluation.organiser.submission_writer import AlgorithmWriter, InputImage, SampleCase, write_phase

# --- Synthetic eyes of JustRAIGS: persons, three graders who disagree, and predicted features ---

# How often a grader chooses RG, NRG and U for an eye, by its true label.
_CONFUSION = {REFERABLE: (0.85, 0.14, 0.01), NOT_REFERABLE: (0.04, 0.95, 0.01), UNGRADABLE: (0.03, 0.17, 0.8)}
_PREVALENCE = (0.7, 0.75, 0.3, 0.4, 0.25, 0.3, 0.3, 0.1, 0.35, 0.6)
_GRADER_FEATURE_ERROR = 0.2
_SHARE_OF_FELLOWS = 0.8
_LABELS = (REFERABLE, NOT_REFERABLE, UNGRADABLE)
_GRADERS = ("G1", "G2", "G3")


@dataclass(frozen=True)
class GradedEyes:
    """All eyes of a sample; arrays are (eyes,), (eyes, grader) and (eyes, grader, feature)."""

    names: tuple[str, ...]
    fellows: tuple[str, ...]
    ages: NDArray[np.int64]
    final: NDArray[np.str_]
    labels: NDArray[np.str_]
    true_features: NDArray[np.bool_]
    graded_features: NDArray[np.bool_]

    def case(self, position: int, stack: Mapping[str, str]) -> SampleCase:
        """Return an eye with its graders' labels, and the features of those who call it referable.

        The cluster is the person: the name of the first of both eyes, empty for one alone.
        """
        labels, marks = self.labels[position].tolist(), self.graded_features[position].tolist()
        nothing = (None,) * len(FEATURES)
        features = (tuple(of) if one == REFERABLE else nothing for one, of in zip(labels, marks, strict=True))
        own, fellow = self.names[position], self.fellows[position]
        columns = {**stack, "cluster": min(own, fellow) if fellow else "", "age": str(self.ages[position])}
        return SampleCase(own, columns, {"features": kinds.GradedEye(tuple(labels), tuple(features))})

    def agreed(self, position: int) -> Flags:
        """Return the agreed features of a referable eye."""
        counting = counting_graders(self.labels[position].tolist())
        return agreed_labels([self.graded_features[position, grader].tolist() for grader in counting])


def draw_eyes(count: int, referable_share: float, ungradable_share: float, rng: Generator) -> GradedEyes:
    """Draw final labels, then graders' labels that lead to them. Raises ValueError without both classes."""
    referable, ungradable = round(referable_share * count), round(ungradable_share * count)
    if not 0 < referable <= count - ungradable - 1 or ungradable < 0:
        raise ValueError(f"referable and ungradable: expected eyes of both classes among {count}")
    rest = count - referable - ungradable
    final = rng.permutation(np.repeat([REFERABLE, UNGRADABLE, NOT_REFERABLE], [referable, ungradable, rest]))
    labels = np.full((count, 3), "", dtype="<U3")
    for label, shares in _CONFUSION.items():
        members = np.flatnonzero(final == label)
        labels[members, :2] = rng.choice(_LABELS, p=shares, size=(members.size, 2))
    both_wrong = (labels[:, 0] == labels[:, 1]) & (labels[:, 0] != final)
    labels[both_wrong, 1] = final[both_wrong]
    disagree = labels[:, 0] != labels[:, 1]
    labels[disagree, 2] = final[disagree]
    true_features = rng.random((count, len(FEATURES))) < _PREVALENCE
    wrong = rng.random((count, 3, len(FEATURES))) < _GRADER_FEATURE_ERROR
    graded_features = true_features[:, np.newaxis] ^ wrong
    names = tuple(f"J{number:05d}" for number in rng.permutation(np.arange(1, count + 1)).tolist())
    fellows = [""] * count
    order = rng.permutation(count)[: round(_SHARE_OF_FELLOWS * count) // 2 * 2].tolist()
    for left, right in zip(order[::2], order[1::2], strict=True):
        fellows[left], fellows[right] = names[right], names[left]
    ages = rng.integers(35, 90, count)
    return GradedEyes(names, tuple(fellows), ages, final, labels, true_features, graded_features)


def predicted_features(eyes: GradedEyes, wrong: NDArray[np.bool_]) -> list[Flags]:
    """Return features that differ from the agreed ones, else from the true ones, where they are wrong."""
    flags: list[Flags] = []
    for position, eye_errors in enumerate(wrong):
        pairs = zip(eyes.agreed(position), eyes.true_features[position].tolist(), strict=True)
        right = [true if label is None else label for label, true in pairs]
        flags.append(tuple(np.logical_xor(right, eye_errors).tolist()))
    return flags


# --- Synthetic JustRAIGS phases, and submissions of known quality ---

INPUT_SOCKET = "stacked-color-fundus-images"
MAPPING = "archive_item_to_content_mapping.json"
_FEATURE_ERROR = {Quality.PERFECT: 0.0, Quality.GOOD: 0.15, Quality.POOR: 0.3, Quality.RANDOM: 0.5}
_SUBMISSIONS = {"phase1": 2, "phase2": 1}
_DETAIL = 'metric_detail = {{ {}"justification.*_error" = "none" }}'
_PUBLISHED = {
    "phase1": 'public_detail = "value"\n'
    + _DETAIL.format('"referral.auc" = "none", "decision.*" = "none", '),
    "phase2": _DETAIL.format('referral_and_justification_error = "value", '),
}
_SHARE_OF_PHASE_1 = 0.1
_MOST_GRADERS = 99
_BLOCK = 200
"""The number of images per pair of graders, as in the design document."""
_ABBREVIATIONS = ("ANRS", "ANRI", "RNFLDS", "RNFLDI", "BCLVS", "BCLVI", "NVT", "DH", "LD", "LC")
"""Names of the features in the graders' table, in the order of `FEATURES`."""


ARGUMENTS = (
    Argument("--cases", "number of eyes", type=int, default=9741),
    Argument("--referable", "share of referable eyes", type=float, default=0.16),
    Argument("--ungradable", "share of ungradable eyes", type=float, default=0.01),
    Argument("--stack", "most eyes of a stack", type=int, default=500),
    Argument("--graders", "name so many graders and two specialists; 0: no names", type=int, default=0),
)


def write(arguments: argparse.Namespace, progress: Callable[[int], None]) -> list[Path]:
    """Write two phases (10 % of the eyes, and all), and four submissions to each; return their folders.

    The organisers' files for building the phases are in ``organisers``.
    """
    if arguments.stack < 1 or arguments.cases < 1:
        raise ValueError("cases and stack: expected at least 1")
    if arguments.graders not in (0, *range(2, _MOST_GRADERS + 1)):
        raise ValueError(f"graders: expected 0 or 2 to {_MOST_GRADERS}, found {arguments.graders}")
    rng = Generator(np.random.PCG64(arguments.seed))
    eyes = draw_eyes(arguments.cases, arguments.referable, arguments.ungradable, rng)
    _write_graders(arguments.output / "organisers" / "graders.csv", eyes, arguments)
    likelihoods = likelihoods_of(eyes.final == REFERABLE, rng)
    hard = rng.random(eyes.true_features.shape)
    predicted = {q: predicted_features(eyes, hard < error) for q, error in _FEATURE_ERROR.items()}
    position_of = {name: position for position, name in enumerate(eyes.names)}
    phases = {"phase1": _part(eyes, rng), "phase2": np.arange(arguments.cases)}
    tasks, folders = CHALLENGE.tasks(JustraigsOptions()), []
    for suffix, members in phases.items():
        phase = f"{arguments.name}-{suffix}"
        order = [eyes.names[position] for position in rng.permutation(members).tolist()]
        starts = range(0, len(order), arguments.stack)
        stacks = [
            InputImage(f"stack_{number:04d}.tiff", tuple(order[start : start + arguments.stack]))
            for number, start in enumerate(starts, start=1)
        ]
        places = [(name, stack.name, index) for stack in stacks for index, name in enumerate(stack.cases)]
        folder = arguments.output / "ground-truth" / phase
        mapping = arguments.output / "organisers" / phase / MAPPING
        content = [
            {"stack_name": stack, "stack_index": index, "image": f"{name}.jpg"}
            for name, stack, index in places
        ]
        mapping.parent.mkdir(parents=True, exist_ok=True)
        mapping.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        configuration = configured(
            "justraigs",
            arguments,
            name=phase,
            cases=len(members),
            input_socket=INPUT_SOCKET,
            published=_PUBLISHED[suffix],
            submissions=_SUBMISSIONS[suffix],
        )
        cases = [
            eyes.case(position_of[name], {STACK_NAME: stack, STACK_INDEX: str(index)})
            for name, stack, index in sorted(places)
        ]
        graded = [field for field in references_of(tasks) if field.name == "features"]
        write_phase(folder, configuration, graded, cases)
        folders.append(folder)
        for quality in Quality:
            folders.append(arguments.output / "submissions" / phase / quality.value)
            writer = AlgorithmWriter(folders[-1], fields_of(tasks), stacks, INPUT_SOCKET)
            threshold = 0.5
            if quality is Quality.PERFECT:
                threshold = float(likelihoods[quality][eyes.final == REFERABLE].min())
            for position in members.tolist():
                likelihood = float(likelihoods[quality][position])
                decision = likelihood >= threshold
                values = {"likelihood": likelihood, "decision": decision}
                writer.add(eyes.names[position], values | {"features": predicted[quality][position]})
            writer.close()
    progress(arguments.cases)
    return folders


def _part(eyes: GradedEyes, rng: Generator) -> NDArray[np.intp]:
    """Return the eyes of phase 1: a tenth of those with each final label."""
    chosen = []
    for label in _LABELS:
        members = rng.permutation(np.flatnonzero(eyes.final == label))
        chosen.append(members[: round(_SHARE_OF_PHASE_1 * members.size)])
    return np.sort(np.concatenate(chosen))


def _write_graders(path: Path, eyes: GradedEyes, arguments: argparse.Namespace) -> None:
    header = ["Eye ID", "Final Label", "Fellow Eye ID", "Age"]
    header += [f"Label {grader}" for grader in _GRADERS]
    header += [f"{grader} {feature}" for grader in _GRADERS for feature in _ABBREVIATIONS]
    names: dict[str, tuple[str, ...]] = {}
    if arguments.graders:
        header += [f"Grader {grader}" for grader in _GRADERS]
        rng = Generator(np.random.PCG64(arguments.seed))
        for block, start in enumerate(range(0, len(eyes.names), _BLOCK), start=1):
            pair = 1 + rng.choice(arguments.graders, size=2, replace=False)
            graders = *(f"grader{number:02d}" for number in pair), f"specialist{block % 2 + 1}"
            names |= dict.fromkeys(sorted(eyes.names)[start : start + _BLOCK], graders)
    rows = []
    for position in np.argsort(eyes.names).tolist():
        labels = eyes.labels[position].tolist()
        marks = [
            str(int(flag)) if label == REFERABLE else ""
            for label, flags in zip(labels, eyes.graded_features[position].tolist(), strict=True)
            for flag in flags
        ]
        row = [eyes.names[position], str(eyes.final[position]), eyes.fellows[position]]
        given = names.get(eyes.names[position], ())
        named = [name if label else "" for name, label in zip(given, labels, strict=False)]
        rows.append([*row, str(eyes.ages[position]), *labels, *marks, *named])
    write_csv(path, header, rows)
