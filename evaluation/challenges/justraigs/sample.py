"""Synthetic JustRAIGS phases: eyes of persons, disagreeing graders, stacks, submissions of known quality."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaluation.challenges.justraigs.assignment import assign_pairs
from evaluation.challenges.justraigs.eyes import Eyes, draw_eyes, predicted_features
from evaluation.challenges.justraigs.graders import ABBREVIATIONS, GRADERS, MAIN_LABELS, write_case_table
from evaluation.challenges.justraigs.rules import CHALLENGE, REFERABLE, JustraigsOptions
from evaluation.core.challenge import fields_of
from evaluation.io.tables import write_csv
from evaluation.platform.submission_writer import AlgorithmWriter, InputImage
from evaluation.synthesis.fundus import Quality
from evaluation.synthesis.likelihoods import likelihoods_by_quality

INPUT_SOCKET = "stacked-color-fundus-images"
MAPPING = "archive_item_to_content_mapping.json"
_FEATURE_ERROR = {Quality.PERFECT: 0.0, Quality.GOOD: 0.15, Quality.POOR: 0.3, Quality.RANDOM: 0.5}
_SUBMISSIONS = {"phase1": 10, "phase2": 1}
_SHARE_OF_PHASE_1 = 0.1
_PERFECT_THRESHOLD = 0.5
_MOST_GRADERS = 99


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of a JustRAIGS sample."""
    parser.add_argument("--cases", type=int, default=9741, help="number of eyes")
    parser.add_argument("--referable", type=float, default=0.16, help="share of referable eyes")
    parser.add_argument("--ungradable", type=float, default=0.01, help="share of ungradable eyes")
    parser.add_argument("--stack", type=int, default=500, help="most eyes of a stack")
    parser.add_argument("--inline", action="store_true", help="values in predictions.json, not in files")
    parser.add_argument(
        "--graders", type=int, default=0, help="name so many graders and two specialists; 0: no names"
    )
    parser.add_argument("--delimiter", choices=[",", ";"], default=",", help="of the graders' table")


def write(arguments: argparse.Namespace, progress: Callable[[int], None]) -> list[Path]:
    """Write two phases (10 % of the eyes, and all), and four submissions to each; return their folders.

    The organisers' files for building the phases are in ``organisers``.
    """
    if arguments.stack < 1 or arguments.cases < 1:
        raise ValueError("cases and stack: expected at least 1")
    if arguments.graders not in (0, *range(2, _MOST_GRADERS + 1)):
        raise ValueError(f"graders: expected 0 or 2 to {_MOST_GRADERS}, found {arguments.graders}")
    rng = np.random.Generator(np.random.PCG64(arguments.seed))
    eyes = draw_eyes(arguments.cases, arguments.referable, arguments.ungradable, rng)
    graders = arguments.output / "organisers" / "graders.csv"
    _write_graders(graders, eyes, arguments)
    likelihoods = likelihoods_by_quality(eyes.final == REFERABLE, rng)
    features = {quality: predicted_features(eyes, error, rng) for quality, error in _FEATURE_ERROR.items()}
    everyone = np.arange(arguments.cases)
    phases = {"phase1": _part(eyes, rng), "phase2": everyone}
    folders = []
    for suffix, members in phases.items():
        name = f"{arguments.name}-{suffix}"
        stacks = _stacks(eyes, rng.permutation(members), arguments.stack)
        folder = arguments.output / "ground-truth" / name
        mapping = arguments.output / "organisers" / name / MAPPING
        _write_mapping(mapping, stacks)
        folder.mkdir(parents=True, exist_ok=True)
        configuration = _configuration(name, suffix, len(members), arguments.seed)
        (folder / "phase.toml").write_text(configuration, "utf-8")
        write_case_table(graders, mapping, folder / "cases.csv")
        folders.append(folder)
        for quality in Quality:
            folders.append(arguments.output / "submissions" / name / quality.value)
            fields = fields_of(CHALLENGE.tasks(JustraigsOptions()))
            writer = AlgorithmWriter(folders[-1], fields, stacks, INPUT_SOCKET, inline=arguments.inline)
            threshold = _threshold(eyes, likelihoods[quality], quality)
            for position in members.tolist():
                likelihood = float(likelihoods[quality][position])
                decision = likelihood >= threshold
                values = {"likelihood": likelihood, "decision": decision}
                writer.add(eyes.names[position], values | {"features": features[quality][position]})
            writer.close()
    progress(arguments.cases)
    return folders


def _part(eyes: Eyes, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return the eyes of phase 1: a tenth of those with each final label."""
    chosen = []
    for label in MAIN_LABELS:
        members = rng.permutation(np.flatnonzero(eyes.final == label))
        chosen.append(members[: round(_SHARE_OF_PHASE_1 * members.size)])
    return np.sort(np.concatenate(chosen))


def _stacks(eyes: Eyes, order: NDArray[np.intp], size: int) -> tuple[InputImage, ...]:
    parts = [order[start : start + size].tolist() for start in range(0, order.size, size)]
    return tuple(
        InputImage(f"stack_{number:04d}.tiff", tuple(eyes.names[position] for position in part))
        for number, part in enumerate(parts, start=1)
    )


def _threshold(eyes: Eyes, likelihoods: NDArray[np.float64], quality: Quality) -> float:
    """Return the threshold of the decisions: the lowest positive for perfect, else 0.5."""
    if quality is Quality.PERFECT:
        return float(likelihoods[eyes.final == REFERABLE].min())
    return _PERFECT_THRESHOLD


def _write_graders(path: Path, eyes: Eyes, arguments: argparse.Namespace) -> None:
    header = [
        "Eye ID",
        "Final Label",
        "Fellow Eye ID",
        "Age",
        *(f"Label {grader}" for grader in GRADERS),
    ]
    header += [f"{grader} {feature}" for grader in GRADERS for feature in ABBREVIATIONS]
    names: dict[str, tuple[str, ...]] = {}
    if arguments.graders:
        header += [f"Grader {grader}" for grader in GRADERS]
        pool = [f"grader{number:02d}" for number in range(1, arguments.graders + 1)]
        pairs = assign_pairs(sorted(eyes.names), pool, arguments.seed)
        names = {one.image: (*one.graders, f"specialist{one.block % 2 + 1}") for one in pairs}
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
    write_csv(path, header, rows, arguments.delimiter)


def _write_mapping(path: Path, stacks: tuple[InputImage, ...]) -> None:
    content = [
        {"stack_name": stack.name, "stack_index": index, "image": f"{case}.jpg"}
        for stack in stacks
        for index, case in enumerate(stack.cases)
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def _configuration(name: str, suffix: str, cases: int, seed: int) -> str:
    return f"""\
challenge = "justraigs"
name = "{name}"
title = "JustRAIGS, synthetic sample of {cases} eyes"
submission = "algorithm"
input_socket = "{INPUT_SOCKET}"
seed = {seed}

[[subgroups]]
column = "age"
bins = [50, 65]

# JustRAIGS takes ten algorithms of each team in phase 1, and one in phase 2.
[submissions]
limit = {_SUBMISSIONS[suffix]}
"""
