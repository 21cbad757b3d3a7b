"""The command line: finds the module of a command, parses its arguments and runs it."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType

from evaluation import __version__
from evaluation.cli.common import USE_THE_PACKAGE, is_of_organisers, status_of
from evaluation.core.fault import most_similar
from evaluation.phase.named import BAKED, UPLOADED


@dataclass(frozen=True)
class Command:
    """A command: its module below `evaluation`, a summary in one line, and an example, line by line.

    The example runs in any folder. ``consequence`` is the last line after an error, for
    commands that might have been done in part.
    """

    module: str
    summary: str
    example: tuple[str, ...]
    consequence: str = ""


_NEW = "python -m evaluation new output/lesions --like segmentation"
_PHASE, _SUBMISSION = "output/lesions/phase", "output/lesions/submission"
_SEAL = f"python -m evaluation seal {_PHASE}"
_EVALUATE = (
    f"python -m evaluation evaluate --ground-truth {_PHASE} --input {_SUBMISSION} --output output/scored"
)
_FORM = f"python -m evaluation form {_PHASE} --output output/lesions/form.json"
_SAMPLE = "python -m evaluation sample refuge --output output/sample --cases 40 --width 160 --height 160"
_SAMPLE_PHASE = "output/sample/ground-truth/refuge-sample"

COMMANDS = {
    "evaluate": Command(
        "cli.evaluate_command",
        "Score a submission against a phase and write metrics.json.",
        (_NEW, _SEAL, _EVALUATE),
    ),
    "cases": Command(
        "organiser.cli.cases_command",
        "Write or complete cases.csv from the files of a phase.",
        (_NEW, "rm output/lesions/phase/cases.csv", "python -m evaluation cases output/lesions/phase"),
        "nothing was written",
    ),
    "seal": Command(
        "organiser.cli.seal_command",
        "Validate a phase folder and write its manifest.",
        (_NEW, _SEAL),
        "the phase is not sealed",
    ),
    "rehearse": Command(
        "organiser.cli.rehearse_command",
        "Score submissions made of the reference itself, to test metrics.",
        (_NEW, f"python -m evaluation rehearse {_PHASE}"),
    ),
    "settings": Command(
        "organiser.cli.settings_command",
        "Print the settings of a phase on the platform as JSON.",
        (_NEW, f"python -m evaluation settings {_PHASE}"),
    ),
    "form": Command(
        "cli.form_command", "Write what participants may know: for check, or in words.", (_NEW, _FORM)
    ),
    "check": Command(
        "cli.check_command",
        "List every fault of a submission, as the container would.",
        (_NEW, _FORM, f"python -m evaluation check --form output/lesions/form.json {_SUBMISSION}"),
    ),
    "unpack": Command(
        "cli.unpack_command",
        "Unpack a submission as the platform does.",
        (_NEW, f"python -m evaluation unpack {_SUBMISSION} output/input"),
    ),
    "audience": Command(
        "organiser.cli.audience_command",
        "Print what each audience sees of a run (see run.sh --audience).",
        ("./run.sh --audience refuge-onsite test/input/refuge-onsite  # needs Docker; runs this command",),
    ),
    "sample": Command(
        "organiser.cli.sample_command",
        "Write a synthetic phase and submissions of known quality.",
        (_SAMPLE,),
    ),
    "convert": Command(
        "organiser.cli.convert_command",
        "Write an archive as jobs of an algorithm, or jobs as an archive.",
        (_NEW, f"python -m evaluation convert {_SUBMISSION} --ground-truth {_PHASE} --output output/jobs"),
        "nothing was written",
    ),
    "new": Command(
        "organiser.cli.new_command",
        "Write a repository to start from: phase, sample, image.",
        (_NEW,),
        "nothing was written",
    ),
    "build": Command(
        "organiser.cli.build_command",
        "Build the image of a phase, with Docker.",
        (_NEW, "python -m evaluation build output/lesions  # needs Docker"),
        "no image was made",
    ),
    "export": Command(
        "organiser.cli.export_command",
        "Build the image, and write all that goes to the platform.",
        (_NEW, "python -m evaluation export output/lesions  # needs Docker"),
    ),
    "rank": Command(
        "organiser.cli.rank_command",
        "Make a leaderboard of teams' results, with its uncertainty.",
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
        "Tell how many cases a test set needs.",
        (
            "python -m evaluation plan --sensitivity 0.8 0.02 --specificity 0.95 0.005 --prevalence 0.16",
            "python -m evaluation plan --sensitivity 0.8 --specificity 0.95 --prevalence 0.16 --cases 9741",
        ),
    ),
    "graders": Command(
        "organiser.cli.graders_command",
        "Admit graders by an exam, and assign images (JustRAIGS).",
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
        "Write a phase of a random part of another phase's cases.",
        (_NEW, f"python -m evaluation subset {_PHASE} --share 0.5 --output output/development"),
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
        "Tell how much published figures reveal of the labels.",
        (_NEW, f"python -m evaluation audit {_PHASE}"),
    ),
    "describe": Command(
        "organiser.cli.describe_command",
        "Describe the data of a phase: sizes, classes, tests, by group.",
        (_NEW, f"python -m evaluation describe {_PHASE} --output output/data"),
    ),
    "summary": Command(
        "cli.summary_command",
        "Print the main figures of a metrics.json as a table.",
        (_NEW, _SEAL, _EVALUATE, "python -m evaluation summary output/scored/metrics.json"),
    ),
    "report": Command(
        "organiser.cli.report_command",
        "Write figures and tables of a submission as one HTML file.",
        (
            _NEW,
            _SEAL,
            f"python -m evaluation report submission --ground-truth {_PHASE} --input {_SUBMISSION} "
            "--output output/report.html",
        ),
        "no report was written",
    ),
    "paper": Command(
        "organiser.cli.paper_command",
        "Write the manuscript of a challenge, its archive and data sheets.",
        (
            _SAMPLE,
            f"python -m evaluation seal {_SAMPLE_PHASE}",
            "python -m evaluation evaluate --each output/sample/submissions "
            f"--ground-truth {_SAMPLE_PHASE} --output output/each",
            "python -m evaluation rank output/each --output output/leaderboard",
            f"python -m evaluation paper {_SAMPLE_PHASE} --results output/leaderboard --output output/paper",
            "python -m evaluation paper --verify output/paper/archive",
        ),
        "nothing was written",
    ),
    "completion": Command(
        "organiser.cli.completion_command",
        "Print what makes bash, zsh or fish complete commands and options.",
        ("python -m evaluation completion bash",),
    ),
    "schema": Command(
        "organiser.cli.schema_command",
        "Print the JSON schema of metrics.json, phase.toml and others.",
        ("python -m evaluation schema phase",),
    ),
}


ROLES = {
    "participants": ("check", "unpack", "summary"),
    "organisers, the data": ("plan", "cases", "describe", "subset", "sample", "graders", "fuse"),
    "organisers, the phase": (
        *("new", "seal", "rehearse", "audit", "form", "settings", "build", "export"),
        *("evaluate", "convert", "audience"),
    ),
    "results and statistics": ("report", "rank", "paper", "ensemble"),
    "tools": ("schema", "completion"),
}
"""The commands by whom or what they are for, in the order of their use."""

_HELP, _VERSION = ("-h", "--help", "help"), ("-V", "--version")


def main(arguments: Sequence[str]) -> int:
    """Run a command and return its exit status.

    Without arguments, run `evaluate` in a container, as the platform does; elsewhere print the commands.
    """
    if not arguments:
        arguments = ["evaluate" if BAKED.parent.is_dir() or UPLOADED.is_dir() else "--help"]
    if arguments[0] == "help" and arguments[1:2] and arguments[1] in COMMANDS:
        arguments = [arguments[1], "--help"]
    name = arguments[0]
    if name in COMMANDS:
        return status_of(partial(_run, name, arguments[1:]), COMMANDS[name].consequence)
    return status_of(partial(_overview, name))


def _program() -> str:
    """Return how this program was called."""
    return "evaluation" if Path(sys.argv[0]).stem == "evaluation" else _MODULE


_MODULE = "python -m evaluation"


def parser_of(name: str, module: ModuleType) -> argparse.ArgumentParser:
    """Return the parser of a command, which its module fills."""
    command = COMMANDS[name]
    parser = argparse.ArgumentParser(
        prog=f"{_program()} {name}",
        description=command.summary,
        epilog="\n  ".join(["example:", *command.example]).replace(_MODULE, _program()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    module.add_arguments(parser)
    return parser


def _run(name: str, arguments: Sequence[str]) -> int:
    try:
        module = importlib.import_module(f"evaluation.{COMMANDS[name].module}")
        status: int = module.run(parser_of(name, module).parse_args(arguments))
        return status
    except ModuleNotFoundError as error:
        if not is_of_organisers(error):
            raise
    sys.stderr.write(f"{name} is an organiser's command; this image has none of them. {USE_THE_PACKAGE}\n")
    return 2


def _overview(name: str) -> int:
    lines = [f"usage: {_program()} COMMAND [ARGUMENTS]", ""]
    for role, names in ROLES.items():
        lines += [f"{role}:", *(f"  {one:<10} {COMMANDS[one].summary}" for one in names)]
    lines += [
        "",
        f"{_program()} COMMAND --help shows arguments and an example.",
        "In a container, without a command: score /input and write /output/metrics.json.",
    ]
    if name in _HELP:
        sys.stdout.write("\n".join(lines) + "\n")
        return 0
    if name in _VERSION:
        sys.stdout.write(f"evaluation {__version__}\n")
        return 0
    if meant := most_similar(name, COMMANDS):
        lines = [f"see {_program()} --help"]
    hint = f"; did you mean {meant!r}?" if meant else ""
    sys.stderr.write("\n".join([f"unknown command {name!r}{hint}", *lines]) + "\n")
    return 2
