"""The command line: finds the module of a command, parses its arguments and runs it."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from evaluation import __version__
from evaluation.cli.common import USE_THE_PACKAGE, is_of_organisers, status_of


@dataclass(frozen=True)
class Command:
    """A command: its module below `evaluation`, a summary in one line, and an example, line by line.

    The example runs in a fresh clone of the repository. ``consequence`` is the last line after an error, for
    commands that might have been done in part.
    """

    module: str
    summary: str
    example: tuple[str, ...]
    consequence: str = ""


_SEAL = "python -m evaluation seal refuge-onsite"
_EVALUATE = (
    "python -m evaluation evaluate --ground-truth refuge-onsite --input test/input/refuge-onsite "
    "--output output/refuge-onsite"
)
_FORM = "python -m evaluation form refuge-onsite --output output/refuge-onsite/form.json"
_SAMPLE = "python -m evaluation sample refuge --output output/sample --cases 40 --width 160 --height 160"
_SAMPLE_PHASE = "output/sample/ground-truth/refuge-sample"

COMMANDS = {
    "evaluate": Command(
        "cli.evaluate_command",
        "Score a submission against a phase and write metrics.json.",
        (_SEAL, _EVALUATE),
    ),
    "cases": Command(
        "organiser.cli.cases_command",
        "Write or complete cases.csv from the files of a phase: names, sizes, positions.",
        (
            "python -m evaluation new output/lesions --like segmentation",
            "rm output/lesions/phase/cases.csv",
            "python -m evaluation cases output/lesions/phase",
        ),
        "nothing was written",
    ),
    "seal": Command(
        "organiser.cli.seal_command",
        "Validate a phase folder and write its manifest.",
        (_SEAL,),
        "the phase is not sealed",
    ),
    "rehearse": Command(
        "organiser.cli.rehearse_command",
        "Score submissions derived from a phase's own reference, and test every metric on them.",
        ("python -m evaluation rehearse refuge-onsite",),
    ),
    "settings": Command(
        "organiser.cli.settings_command",
        "Print the settings of a phase on the platform as JSON.",
        ("python -m evaluation settings refuge-onsite",),
    ),
    "form": Command(
        "cli.form_command", "Write what participants may know of a phase: for check, or in words.", (_FORM,)
    ),
    "check": Command(
        "cli.check_command",
        "List every fault of a submission, as the container would, without labels.",
        (_FORM, "python -m evaluation check --form output/refuge-onsite/form.json test/input/refuge-onsite"),
    ),
    "unpack": Command(
        "cli.unpack_command",
        "Unpack a submission as the platform does before it starts the container.",
        ("python -m evaluation unpack test/input/refuge-onsite output/input",),
    ),
    "audience": Command(
        "organiser.cli.audience_command",
        "Print what each audience sees of a recorded run (see run.sh --audience).",
        ("./run.sh --audience refuge-onsite test/input/refuge-onsite  # needs Docker; runs this command",),
    ),
    "sample": Command(
        "organiser.cli.sample_command",
        "Write a synthetic phase and submissions of known quality.",
        (_SAMPLE,),
    ),
    "convert": Command(
        "organiser.cli.convert_command",
        "Write an archive submission as jobs of an algorithm, or jobs as an archive, for tests.",
        (
            "python -m evaluation convert test/input/refuge-onsite --ground-truth refuge-onsite "
            "--output output/jobs",
        ),
        "nothing was written",
    ),
    "new": Command(
        "organiser.cli.new_command",
        "Write a repository of one's own: a declared phase, a synthetic sample, what makes the image.",
        ("python -m evaluation new output/lesions --like segmentation",),
        "nothing was written",
    ),
    "build": Command(
        "organiser.cli.build_command",
        "Build the image of a phase, with the engine of Docker.",
        (
            "python -m evaluation new output/lesions --like segmentation",
            "python -m evaluation build output/lesions  # needs Docker",
        ),
        "no image was made",
    ),
    "export": Command(
        "organiser.cli.export_command",
        "Build the image of a phase, and write all that goes to the platform.",
        (
            "python -m evaluation new output/lesions --like segmentation",
            "python -m evaluation export output/lesions  # needs Docker",
        ),
    ),
    "rank": Command(
        "organiser.cli.rank_command",
        "Make a leaderboard of many teams' results, with its uncertainty.",
        (
            _SAMPLE,
            f"python -m evaluation seal {_SAMPLE_PHASE}",
            "python -m evaluation evaluate --each output/sample/submissions "
            f"--ground-truth {_SAMPLE_PHASE} --output output/each",
            "python -m evaluation rank output/each --output output/leaderboard",
        ),
    ),
    "plan": Command(
        "organiser.cli.plan_command",
        "Tell how many cases a test set needs for intervals of a wanted width.",
        (
            "python -m evaluation plan --sensitivity 0.8 0.02 --specificity 0.95 0.005 --prevalence 0.16",
            "python -m evaluation plan --sensitivity 0.8 --specificity 0.95 --prevalence 0.16 --cases 9741",
        ),
    ),
    "graders": Command(
        "organiser.cli.graders_command",
        "Admit graders by an exam, and draw who grades which images (JustRAIGS).",
        (
            "mkdir -p output",
            "printf 'name,final_label,ann,bo\\nE1,RG,RG,NRG\\nE2,NRG,NRG,NRG\\n' > output/answers.csv",
            "python -m evaluation graders exam output/answers.csv --output output/exam.csv",
        ),
        "nothing was written",
    ),
    "fuse": Command(
        "organiser.cli.fuse_command",
        "Build the reference of a phase from several annotators.",
        (
            _SAMPLE,
            "mkdir output/annotations",
            f"cp {_SAMPLE_PHASE}/phase.toml output/annotations",
            f"cut -d , -f 1-5 {_SAMPLE_PHASE}/cases.csv > output/annotations/cases.csv",
            "cp -R output/sample/submissions output/annotations/readers",
            "python -m evaluation fuse annotators output/annotations --output output/fused",
        ),
        "nothing was written",
    ),
    "subset": Command(
        "organiser.cli.subset_command",
        "Write a phase of a random part of another phase's cases, drawn within strata.",
        ("python -m evaluation subset justraigs-phase2 --share 0.1 --output output/development",),
        "nothing was written",
    ),
    "ensemble": Command(
        "organiser.cli.ensemble_command",
        "Combine several submissions of a phase into one.",
        (
            _SAMPLE,
            "python -m evaluation ensemble output/sample/submissions/good output/sample/submissions/poor "
            f"--ground-truth {_SAMPLE_PHASE} --output output/ensemble",
        ),
        "nothing was written",
    ),
    "audit": Command(
        "organiser.cli.audit_command",
        "Tell how many bits about the labels a phase gives to each submission.",
        ("python -m evaluation audit refuge-onsite",),
    ),
    "describe": Command(
        "organiser.cli.describe_command",
        "Describe the data of a phase: numbers, classes, sizes, distributions and tests, by group.",
        ("python -m evaluation describe refuge-onsite --output output/data",),
    ),
    "summary": Command(
        "cli.summary_command",
        "Print the main figures of a metrics.json as a table.",
        (_SEAL, _EVALUATE, "python -m evaluation summary output/refuge-onsite/metrics.json"),
    ),
    "report": Command(
        "organiser.cli.report_command",
        "Write figures and tables of a submission as one HTML file.",
        (
            _SEAL,
            "python -m evaluation report submission --ground-truth refuge-onsite "
            "--input test/input/refuge-onsite --output output/report.html",
        ),
        "no report was written",
    ),
    "schema": Command(
        "organiser.cli.schema_command",
        "Print the JSON schema of metrics.json, leaderboard.json or phase.toml.",
        ("python -m evaluation schema phase",),
    ),
}


def main(arguments: Sequence[str]) -> int:
    """Run a command and return its exit status; without arguments, run `evaluate` as in the container."""
    if not arguments:
        arguments = ["evaluate"]
    name = arguments[0]
    if name in COMMANDS:
        return status_of(partial(_run, name, arguments[1:]), COMMANDS[name].consequence)
    return status_of(partial(_overview, name))


def _run(name: str, arguments: Sequence[str]) -> int:
    try:
        return _run_command(name, arguments)
    except ModuleNotFoundError as error:
        if not is_of_organisers(error):
            raise
    sys.stderr.write(f"{name} is an organiser's command; this image has none of them. {USE_THE_PACKAGE}\n")
    return 2


def _run_command(name: str, arguments: Sequence[str]) -> int:
    command = COMMANDS[name]
    module = importlib.import_module(f"evaluation.{command.module}")
    parser = argparse.ArgumentParser(
        prog=f"python -m evaluation {name}",
        description=command.summary,
        epilog="\n  ".join(["example:", *command.example]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    module.add_arguments(parser)
    status: int = module.run(parser.parse_args(arguments))
    return status


def _overview(name: str) -> int:
    lines = [
        "usage: python -m evaluation [COMMAND] [ARGUMENTS]",
        "",
        "Without a command: score /input and write /output/metrics.json, as the platform runs the container.",
        "",
        *(f"  {name:<10} {command.summary}" for name, command in COMMANDS.items()),
        "",
        "example:",
        "  python -m evaluation COMMAND --help",
    ]
    if name in ("-h", "--help"):
        sys.stdout.write("\n".join(lines) + "\n")
        return 0
    if name == "--version":
        sys.stdout.write(f"evaluation {__version__}\n")
        return 0
    sys.stderr.write("\n".join([f"unknown command {name!r}", *lines]) + "\n")
    return 2
