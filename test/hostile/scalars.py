"""Hostile and odd classes, probabilities, decisions and risks, in a table and as JSON of an algorithm."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

from .submissions import AS_BEFORE, Row

TABLES = """\
[fields.grade]
kind = "class"
classes = ["none", "mild", "severe"]

[fields.stage]
kind = "class"
classes = [0, 1, 2, 3]

[fields.lesion]
kind = "class_probabilities"
classes = ["melanoma", "naevus"]

[fields.referral]
kind = "decision"

[fields.risk]
kind = "survival"
risk = true
minimum = 0

[tasks.all.metrics]
grading = { metric = "cohen_kappa", field = "grade", disagreement = "linear" }
staging = { metric = "accuracy", field = "stage" }
lesions = { metric = "macro_auc", field = "lesion" }
referrals = { metric = "accuracy", field = "referral" }
risks = { metric = "concordance_index", field = "risk" }
"""
CASES = {
    "name": ["C1", "C2", "C3", "C4"],
    "grade": ["none", "mild", "severe", "mild"],
    "stage": [0, 1, 2, 3],
    "lesion": ["melanoma", "naevus", "naevus", "melanoma"],
    "referral": [0, 1, 1, 0],
    "time": [5, 9, 2, 7],
    "event": [1, 1, 0, 1],
}
PREDICTIONS = {
    "case": ["C1", "C2", "C3", "C4"],
    "grade": ["none", "mild", "mild", "severe"],
    "stage": [0, 2, 2, 3],
    "melanoma": [0.75, 0.5, 0.25, 0.5],
    "naevus": [0.25, 0.5, 0.75, 0.5],
    "referral": [0, 1, 0, 0],
    "risk": [0.5, 0.25, 4, 1],
}
LISTS = {
    "grade": PREDICTIONS["grade"],
    "stage": PREDICTIONS["stage"],
    "lesion": [
        dict(zip(("melanoma", "naevus"), pair, strict=True))
        for pair in zip(PREDICTIONS["melanoma"], PREDICTIONS["naevus"], strict=True)
    ],
    "referral": [False, True, False, False],
    "risk": PREDICTIONS["risk"],
}


def write_jobs(folder: Path) -> None:
    """Write the good submission of an algorithm: a job for each case, with a JSON file for each output."""
    jobs = []
    for position, name in enumerate(PREDICTIONS["case"]):
        output = folder / f"job-{name}" / "output"
        output.mkdir(parents=True)
        outputs = []
        for slug, values in LISTS.items():
            (output / f"{slug}.json").write_text(json.dumps(values[position]))
            socket = {"slug": slug, "kind": "Anything", "super_kind": "File", "relative_path": f"{slug}.json"}
            outputs.append({"socket": socket, "image": None, "value": None, "file": f"{slug}.json"})
        given = {"slug": "image", "kind": "Image", "super_kind": "Image", "relative_path": "images/image"}
        image = {"socket": given, "image": {"name": f"{name}.mha"}, "value": None, "file": None}
        jobs.append({"pk": f"job-{name}", "status": "Succeeded", "inputs": [image], "outputs": outputs})
    (folder / "predictions.json").write_text(json.dumps(jobs))


def cell(column: str, text: str) -> Callable[[Path], None]:
    """Return a change that replaces a cell of the first case."""

    def spoil(folder: Path) -> None:
        path = folder / "predictions.csv"
        with path.open(newline="") as file:
            rows = list(csv.DictReader(file))
        rows[0][column] = text
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)

    return spoil


def value(slug: str, text: str | bytes) -> Callable[[Path], None]:
    """Return a change that replaces the JSON of an output of the first case."""
    data = text.encode() if isinstance(text, str) else text
    return lambda folder: (folder / "job-C1" / "output" / f"{slug}.json").write_bytes(data) and None


GRADE = "expected none, mild or severe, found"
TEXT = "expected the text none, mild or severe, found"
STAGE = "expected a whole number from 0 to 3, found"
NUMBER = "expected a finite number from 0 to 1"
RISK = "expected a finite number of at least 0, found"
SUM = "expected probabilities whose sum is 1 (within 0.001), found a sum of"

ARCHIVE = {
    "class: nothing": Row(cell("grade", ""), f"{GRADE} nothing"),
    "class: NaN": Row(cell("grade", "NaN"), f"{GRADE} 'NaN'"),
    "class: a near miss": Row(cell("grade", "Midl"), f"{GRADE} 'Midl' (did you mean 'mild'?)"),
    "class: its position": Row(cell("grade", "1"), f"{GRADE} '1'"),
    "class: a megabyte": Row(cell("grade", "mild" * 25_000), f"{GRADE} 'mildmild"),
    "class: a line end": Row(cell("grade", "mi\nld"), f"{GRADE} 'mi\\nld' (did you mean 'mild'?)"),
    "class: letters that look alike": Row(cell("grade", "nоne"), f"{GRADE} 'nоne' (did you mean 'none'?)"),
    "class: letters of no width": Row(cell("grade", "no\u200bne"), f"{GRADE} 'no"),
    "whole number: 2.7": Row(cell("stage", "2.7"), f"{STAGE} 2.7"),
    "whole number: beyond the last": Row(cell("stage", "4"), f"{STAGE} 4"),
    "whole number: below the first": Row(cell("stage", "-1"), f"{STAGE} -1"),
    "whole number: nothing": Row(cell("stage", ""), f"{STAGE} nothing"),
    "whole number: NaN": Row(cell("stage", "nan"), f'{STAGE} "nan"'),
    "whole number: hexadecimal": Row(cell("stage", "0x1"), f'{STAGE} "0x1"'),
    "whole number: a rounded one": Row(cell("stage", "1.0000000000000002"), f"{STAGE} 1.0000000000000002"),
    "whole number: beyond floats": Row(cell("stage", "1e999"), f'{STAGE} "1e999"'),
    "odd: a whole number with a point": Row(cell("stage", "0.0"), AS_BEFORE),
    "odd: a whole number below zero by its sign alone": Row(cell("stage", "-0"), AS_BEFORE),
    "probability: above 1": Row(cell("melanoma", "1.25"), f"melanoma: {NUMBER}, found 1.25"),
    "probability: below 0": Row(cell("melanoma", "-0.25"), f"melanoma: {NUMBER}, found -0.25"),
    "probability: infinite": Row(cell("naevus", "inf"), f'naevus: {NUMBER}, found "inf"'),
    "probability: nothing": Row(cell("naevus", ""), f"naevus: {NUMBER}, found nothing"),
    "probability: another sum": Row(cell("naevus", "0.5"), f"{SUM} 1.25"),
    "odd: a sum that was rounded": Row(cell("naevus", "0.2500"), AS_BEFORE),
    "decision: 2": Row(cell("referral", "2"), "expected 0 or 1, found 2"),
    "decision: true": Row(cell("referral", "true"), 'expected 0 or 1, found "true"'),
    "risk: below its bound": Row(cell("risk", "-1e-9"), f"{RISK} -1e-09"),
    "risk: NaN": Row(cell("risk", "NaN"), f'{RISK} "NaN"'),
}

ALGORITHM = {
    "class: a number for text": Row(value("grade", "1"), f"{TEXT} the number 1"),
    "class: null": Row(value("grade", "null"), "expected a value, found null"),
    "class: a list": Row(value("grade", '["mild"]'), "found a list of 1"),
    "class: a near miss": Row(value("grade", '"non"'), f"{GRADE} the text 'non' (did you mean 'none'?)"),
    "class: NUL": Row(value("grade", '"none\\u0000"'), f"{GRADE} the text 'none\\x00'"),
    "class: a lone surrogate": Row(value("grade", '"\\ud800"'), "found a lone surrogate"),
    "whole number: 2.7": Row(value("stage", "2.7"), f"{STAGE} 2.7"),
    "whole number: true": Row(value("stage", "true"), f"{STAGE} true"),
    "whole number: text": Row(value("stage", '"2"'), f"{STAGE} the text '2'"),
    "whole number: NaN": Row(value("stage", "NaN"), f"{STAGE} a number that is not finite"),
    "whole number: of 350 digits": Row(value("stage", "9" * 350), f"{STAGE} a number that is not finite"),
    "odd: a whole number with a point": Row(value("stage", "0.0"), AS_BEFORE),
    "odd: probabilities as a list": Row(value("lesion", "[0.75, 0.25]"), AS_BEFORE),
    "probabilities: a key too many": Row(
        value("lesion", '{"melanoma": 0.75, "naevus": 0.25, "Naevus": 0}'),
        "expected only the keys melanoma, naevus, found the key 'Naevus' (did you mean 'naevus'?)",
    ),
    "probabilities: a key missing": Row(value("lesion", '{"melanoma": 1}'), "the key 'naevus', found none"),
    "probabilities: a key twice": Row(value("lesion", '{"melanoma": 1, "melanoma": 0}'), '"melanoma" twice'),
    "probabilities: too few": Row(value("lesion", "[1]"), "found a list of 1"),
    "probabilities: a hundred thousand": Row(
        value("lesion", "[" + "0," * 99_999 + "1]"), "expected JSON of at most"
    ),
    "probabilities: many keys": Row(
        value("lesion", json.dumps({f"naevus {number}": 0 for number in range(400)})),
        "expected only the keys melanoma, naevus, found 390 other keys",
    ),
    "probabilities: true": Row(value("lesion", "[true, false]"), f"{NUMBER} for 'naevus', found false"),
    "probabilities: another sum": Row(value("lesion", "[0.5, 0.25]"), f"{SUM} 0.75"),
    "decision: 0": Row(value("referral", "0"), "expected true or false, found the number 0"),
    "decision: text": Row(value("referral", '"false"'), "expected true or false, found the text 'false'"),
    "risk: true": Row(value("risk", "true"), f"{RISK} true"),
    "risk: below its bound": Row(value("risk", "-1"), f"{RISK} -1"),
}
