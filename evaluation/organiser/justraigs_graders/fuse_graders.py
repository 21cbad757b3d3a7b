"""`fuse graders`: the reference of JustRAIGS from the labels of its graders."""

import argparse
from pathlib import Path

from evaluation.cli.common import share, whole_number
from evaluation.organiser.cli.shared import Parts, add_fused, add_seed, report_folder
from evaluation.organiser.justraigs_graders.grading import MONITORING, GraderLimits
from evaluation.organiser.justraigs_graders.reference import Monitoring, fuse_graders


def add_part(parts: Parts) -> None:
    """Declare the part of `fuse` with its arguments."""
    parser = add_fused(parts, __package__, "graders", "labels of two graders and a specialist (JustRAIGS)")
    parser.set_defaults(fuse=_fuse)
    add = parser.add_argument
    add("table", type=Path, metavar="GRADERS_CSV", help="the graders' table")
    add(
        "--mapping",
        type=Path,
        metavar="JSON",
        help="mapping of the archive's stacks; a phase of predictions without it has all eyes of the table",
    )
    words = "the configuration of the phase, under any name"
    add("--phase", type=Path, required=True, metavar="FILE", help=words)
    add("--output", type=Path, required=True, metavar="FOLDER", help="the phase folder to write")
    words = "where to write the report (default: OUTPUT-report)"
    add("--report", type=Path, metavar="FOLDER", help=words)
    for name in ("sensitivity", "specificity"):
        add(
            f"--min-{name}",
            type=share,
            default=f"{float(getattr(MONITORING, name)):g}",
            metavar="SHARE",
            help=f"lowest {name} of a grader, from 0 to 1 (default: %(default)s)",
        )
    add_seed(parser)
    words = "images for which new graders are drawn together (default: %(default)s)"
    add("--block", type=whole_number(1), default=200, metavar="N", help=words)


def _fuse(arguments: argparse.Namespace) -> list[Path]:
    report = report_folder(arguments)
    limits = GraderLimits(arguments.min_sensitivity, arguments.min_specificity)
    monitoring = Monitoring(limits, arguments.seed, arguments.block)
    fuse_graders(arguments.table, arguments.mapping, arguments.phase, arguments.output, report, monitoring)
    return [arguments.output, report]
