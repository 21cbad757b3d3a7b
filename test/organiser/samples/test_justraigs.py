"""JustRAIGS samples: shares, graders, persons, and submissions in the order of their quality."""

import argparse
import csv
from pathlib import Path

from evaluation.cli.common import add_all
from evaluation.core.outcome import no_progress
from evaluation.organiser.samples import justraigs


def write(folder, *options: str, name: str = "small", seed: int = 3) -> Path:
    parser = argparse.ArgumentParser()
    add_all(justraigs.ARGUMENTS, parser)
    arguments = parser.parse_args([*options])
    arguments.output, arguments.name, arguments.seed = folder, name, seed
    justraigs.write(arguments, no_progress)
    return folder


def rows_of(path):
    with (path / "organisers" / "graders.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_named_graders_work_in_pairs_of_blocks_and_change_nothing_else(tmp_path):
    options = ("--cases", "1000", "--stack", "300")
    unnamed, eyes = (
        rows_of(write(tmp_path / f"{len(more)}", *options, *more)) for more in ((), ("--graders", "5"))
    )
    names = [tuple(eye.pop(f"Grader {grader}") for grader in ("G1", "G2", "G3")) for eye in eyes]
    assert eyes == unnamed
    pairs = {pair[:2] for pair in names}
    assert len(pairs) in (3, 4, 5)
    assert all(one != other for one, other in pairs)
    assert {name for pair in pairs for name in pair} <= {f"grader0{number}" for number in range(1, 6)}
    assert {third for _, _, third in names} == {"", "specialist1", "specialist2"}
    assert all(bool(third) == bool(eye["Label G3"]) for (*_, third), eye in zip(names, eyes, strict=True))
    fellows = {eye["Eye ID"]: eye["Fellow Eye ID"] for eye in eyes if eye["Fellow Eye ID"]}
    assert len(fellows) == 800
    assert all(fellows[fellow] == name for name, fellow in fellows.items())
