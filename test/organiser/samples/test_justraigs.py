"""JustRAIGS samples: shares, graders, persons, and submissions in the order of their quality."""

import argparse
from pathlib import Path

from evaluation.core.outcome import no_progress
from evaluation.organiser.justraigs_tables import read_graders
from evaluation.organiser.samples import justraigs


def write(folder, *options: str, name: str = "small", seed: int = 3) -> Path:
    parser = argparse.ArgumentParser()
    justraigs.add_arguments(parser)
    arguments = parser.parse_args([*options])
    arguments.output, arguments.name, arguments.seed = folder, name, seed
    justraigs.write(arguments, no_progress)
    return folder


def test_named_graders_work_in_pairs_of_blocks_and_change_nothing_else(tmp_path):
    options = ("--cases", "1000", "--stack", "300")
    unnamed, eyes = (
        read_graders(write(tmp_path / f"{len(more)}", *options, *more) / "organisers" / "graders.csv")
        for more in ((), ("--graders", "5"))
    )
    assert len({eye.graders[:2] for eye in eyes}) in (3, 4, 5)
    assert {name for eye in eyes for name in eye.graders[:2]} <= {
        f"grader0{number}" for number in range(1, 6)
    }
    assert {eye.graders[2] for eye in eyes} == {"", "specialist1", "specialist2"}
    assert all(bool(eye.graders[2]) == bool(eye.graded.labels[2]) for eye in eyes)
    fellows = {eye.name: eye.fellow for eye in eyes if eye.fellow}
    assert len(fellows) == 800
    assert all(fellows[fellow] == name for name, fellow in fellows.items())
    assert [eye.graded for eye in eyes] == [eye.graded for eye in unnamed]
