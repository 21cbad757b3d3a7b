"""A declared phase with every kind of point and box, and a submission to it."""

from __future__ import annotations

from pathlib import Path

import evaluation
from evaluation.organiser.report.results import results_of
from evaluation.phase.phase import load_phase
from test.challenges.declared.phases import declared_phase, write_table
from test.organiser.report.submissions import Bundled

TABLES = """\
[fields]
organ = { kind = "box", table = "organ.csv" }
polyps = { kind = "boxes", table = "polyps.csv", classes = ["polyp", "cancer"], probability = true }
tumours = { kind = "boxes", table = "tumours.csv", dimensions = 3, unit = "mm" }
skull.kind = "keypoints"
skull.table = "skull.csv"
skull.classes = ["sella", "nasion"]
skull.dimensions = 2
skull.unit = "pixels"
apex = { kind = "point", table = "apex.csv" }

[fields.nodules]
kind = "points"
table = "nodules.csv"
probability = true
diameter = true
excluded_table = "ignored.csv"

[fields.cells]
kind = "points"
table = "cells.csv"
dimensions = 2
unit = "pixels"
classes = ["mitotic figure", "other"]
probability = true

[tasks]
cells.metrics.point_f1 = { field = "cells", radius = 5, matching = "by_confidence" }
nodules.metrics.froc = { field = "nodules" }
organ.metrics.box_iou = { field = "organ" }
polyps.metrics.box_average_precision = { field = "polyps", iou_thresholds = [0.5, 0.75] }
tumours.metrics.box_f1 = { field = "tumours", matching = "optimal" }
skull.metrics.mean_radial_error = { field = "skull", worst = 100 }
apex.metrics.mean_radial_error = { field = "apex", worst = 100 }
"""
CASES = {
    "name": ["a", "b", "c"],
    "width": [100] * 3,
    "height": [80] * 3,
    **{f"organ_{column}": [value] * 3 for column, value in (("x1", 10), ("y1", 10), ("x2", 50), ("y2", 50))},
    **{f"apex_{axis}": [value] * 3 for axis, value in (("x", -5), ("y", 10), ("z", 20))},
}


def table(columns: str, *rows: tuple[object, ...]) -> dict[str, list[object]]:
    """Return columns from their names and rows."""
    return {name: [row[i] for row in rows] for i, name in enumerate(columns.split())}


REFERENCE = {
    "cells": table(
        "case x y class", ("a", 20, 20, "mitotic figure"), ("a", 60, 60, "other"), ("b", 50, 40, "other")
    ),
    "nodules": table("case x y z diameter", ("a", 0, 0, 0, 8), ("a", 40, 0, 30, 6), ("b", 0, 0, 0, 4)),
    "ignored": table("case x y z diameter", ("a", -30, 0, 0, 10)),
    "polyps": table(
        "case x1 y1 x2 y2 class",
        ("a", 10, 10, 30, 30, "polyp"),
        ("a", 60, 40, 80, 60, "cancer"),
        ("c", 5, 5, 25, 25, "polyp"),
    ),
    "tumours": table("case x1 y1 z1 x2 y2 z2", ("a", 0, 0, 0, 10, 10, 10), ("b", 0, 0, 0, 10, 10, 20)),
    "skull": table(
        "case x y name",
        *((case, x, 30, name) for case in "abc" for name, x in (("sella", 30), ("nasion", 70))),
    ),
}
SUBMITTED = {
    "cells": table(
        "case x y class probability",
        ("a", 22, 20, "mitotic figure", 0.9),
        ("a", 90, 10, "other", 0.4),
        ("b", 50, 41, "other", 0.8),
    ),
    "nodules": table(
        "case x y z probability",
        ("a", 1, 0, 0, 0.9),
        ("a", 20, 20, 20, 0.5),
        ("a", -31, 0, 0, 0.7),
        ("b", 1, 0, 0, 0.8),
    ),
    "organ": table("case x1 y1 x2 y2", ("a", 10, 10, 50, 50), ("b", 15, 10, 50, 50), ("c", 40, 40, 60, 60)),
    "polyps": table(
        "case x1 y1 x2 y2 class probability",
        ("a", 10, 10, 30, 28, "polyp", 0.9),
        ("a", 0, 50, 20, 70, "cancer", 0.6),
        ("c", 5, 5, 25, 25, "polyp", 0.7),
    ),
    "tumours": table("case x1 y1 z1 x2 y2 z2", ("a", 0, 0, 0, 10, 10, 9), ("a", 30, 30, 30, 40, 40, 40)),
    "skull": table(
        "case x y name",
        *(
            (case, x, 30 + shift, name)
            for shift, case in enumerate("abc")
            for name, x in (("sella", 30), ("nasion", 70))
        ),
    ),
    "apex": table("case x y z", ("a", -5, 10, 20), ("b", -5, 13, 24), ("c", 0, 10, 20)),
}


def declared(folder: Path) -> Bundled:
    """Return the phase, sealed in a folder, with its submission scored."""
    phase = declared_phase(folder / "phase", TABLES, CASES)
    for name, columns in REFERENCE.items():
        write_table(phase / f"{name}.csv", columns)
    evaluation.seal(phase)
    for name, columns in SUBMITTED.items():
        write_table(folder / "submission" / f"{name}.csv", columns)
    scored = evaluation.evaluate(phase, folder / "submission", workers=0)
    scored.write(folder / "results" / "team")
    return Bundled(
        phase, folder / "submission", results_of(load_phase(phase), scored.to_dict(), scored.records)
    )


SURVIVAL = """\
[fields.survival]
kind = "survival"
unit = "months"
{more}
[tasks.survival]
metrics = ["concordance_index"]
"""
"""A field of survival, with further keys, and its usual metric."""
