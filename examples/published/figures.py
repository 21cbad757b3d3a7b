"""What the papers print beside rankings, computed again from other printed numbers.

python figures.py EDD2020_METRICS JUSTRAIGS_METRICS
"""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
from table import HERE, read, show

from evaluation.challenges.cysts.confidence import weighted_dice_of_sums
from evaluation.metrics.confusion import accuracy, sensitivity, specificity
from evaluation.organiser.cyst_benchmark.assignment import assign
from evaluation.stats.intervals import wilson_interval

TABLES = HERE / "tables"
LESIONS = ("drusen", "exudate", "hemorrhage", "scar", "other")
_FOUR_DIGITS = Fraction(1, 10_000)
Line = tuple[str, str, str, str]


def adam_table_1() -> int:
    """Count the images of every set in three ways, and those with AMD by the severities of section 2.1."""
    severities = {"train": (28, 7, 4, 50), "online": (18, 7, 3, 61), "onsite": (24, 9, 3, 53)}
    lines: list[Line] = []
    for row in read(TABLES / "adam_table1_sets.csv"):
        count = {name: int(cell) for name, cell in row.items() if name != "set"}
        for first, second in (("amd", "non_amd"), ("full_disc", "no_full_disc"), ("fovea", "no_fovea")):
            lines.append(
                (row["set"], f"{first} + {second}", str(count[first] + count[second]), row["images"])
            )
        lines.append((row["set"], "sum of severities", str(sum(severities[row["set"]])), row["amd"]))
    return show("ADAM Table 1", lines)


def adam_table_9_from_table_1() -> int:
    """Compute the F1 of a team that marks every image, 2n / (n + 400) for n images with the lesion."""
    onsite = next(row for row in read(TABLES / "adam_table1_sets.csv") if row["set"] == "onsite")
    printed = next(row for row in read(TABLES / "adam_table9_lesions.csv") if row["team"] == "TeamTiger")
    lines = []
    for lesion in LESIONS:
        count = int(onsite[lesion])
        lines.append(
            ("TeamTiger", f"{lesion}_f1", f"{2 * count / (count + 400):.4f}", printed[f"{lesion}_f1"])
        )
    return show("ADAM Table 9, F1 of a team that marks every image (from Table 1)", lines)


def adam_table_10() -> int:
    """Print the ensemble beside the first team of each task, better or worse: green or red in the paper."""
    (ensemble,) = read(TABLES / "adam_table10_ensemble_of_top3.csv")
    first = {
        "auc": read(TABLES / "adam_table3_classification.csv")[0]["auc"],
        "disc_dice": read(TABLES / "adam_table5_disc.csv")[0]["dice"],
        "disc_f1": read(TABLES / "adam_table5_disc.csv")[0]["f1"],
        "fovea_distance": read(TABLES / "adam_table7_fovea.csv")[0]["euclidean_distance"],
        **{
            f"{lesion}_{metric}": read(TABLES / "adam_table9_lesions.csv")[0][f"{lesion}_{metric}"]
            for lesion in LESIONS
            for metric in ("dice", "f1")
        },
    }
    print("\nADAM Table 10: needs the teams' predictions; the printed ensemble beside the first team")
    for name, cell in ensemble.items():
        better = (float(cell) < float(first[name])) == (name == "fovea_distance")
        print(f"  {name:<26} {cell:>12} {first[name]:>12}  {'better' if better else 'worse'}")
    return 0


def adam_table_11() -> int:
    """Compute the AUC of all positives as mean over the severities, weighted with their numbers of images."""
    counts = {"early_amd": 24, "middle_amd": 9, "advanced_dry": 3, "advanced_wet": 53}
    total = {row["team"]: row["auc"] for row in read(TABLES / "adam_table3_classification.csv")}
    lines = []
    for row in read(TABLES / "adam_table11_auc_by_severity.csv"):
        mean = sum(count * Fraction(row[name]) for name, count in counts.items()) / sum(counts.values())
        lines.append((row["team"], "auc of Table 3", f"{float(mean):.4f}", total[row["team"]]))
    return show("ADAM Table 11, weighted with the numbers of images", lines, _FOUR_DIGITS)


def adam_table_14() -> int:
    """Print how many teams are better than each single grader; the paper prints no places."""
    print("\nADAM Table 14: teams that are better than each single grader (no places are printed)")
    disc = read(TABLES / "adam_table5_disc.csv")
    fovea = read(TABLES / "adam_table7_fovea.csv")
    for row in read(TABLES / "adam_table14_graders.csv"):
        better = (
            sum(float(team["dice"]) > float(row["disc_dice"]) for team in disc),
            sum(float(team["f1"]) > float(row["disc_f1"]) for team in disc),
            sum(float(team["euclidean_distance"]) < float(row["fovea_distance"]) for team in fovea),
        )
        print(f"  {row['grader']:<12} Dice {better[0]:>2}  F1 {better[1]:>2}  fovea {better[2]:>2}")
    return 0


def refuge_table_4() -> int:
    """Round to multiples of 1/40: sensitivities at a threshold are these, with 40 glaucomatous eyes."""
    lines = []
    for row in read(TABLES / "refuge_table4_classification.csv"):
        printed = row["reference_sensitivity"]
        lines.append(
            (row["team"], "reference_sensitivity", f"{round(40 * Fraction(printed)) / 40:.4f}", printed)
        )
    return show("REFUGE Table 4", [line for line in lines if line[0] != "Ground truth vCDR"])


def refuge_experts() -> int:
    """Compute the figures of two experts from counts: 40 positives, 360 negatives, agreement on 385 of 400.

    Both find the same 34 positives. They are right on the same 321 negatives and wrong on the same 24; each
    of the other 15 only one of them has right.
    """
    labels = np.repeat([1, 0], [40, 360])
    both = np.repeat([1, 0, 0, 1], [34, 6, 321, 24])
    first = np.concatenate([both, np.repeat([0, 1], [7, 8])])
    second = np.concatenate([both, np.repeat([1, 0], [7, 8])])
    agreed = first == second
    printed = {
        "first expert": (first, labels, ("85.00", "91.11", "90.50")),
        "second expert": (second, labels, ("85.00", "91.39", "90.75")),
        "where they agree": (first[agreed], labels[agreed], ("85.00", "93.04", "92.21")),
    }
    lines: list[Line] = []
    for name, (decisions, correct, figures) in printed.items():
        for metric, figure in zip((sensitivity, specificity, accuracy), figures, strict=True):
            lines.append((name, metric.__name__, f"{100 * metric(decisions, correct):.2f}", figure))
    lines.append(("both experts", "agreement", f"{100 * agreed.mean():.2f}", "96.25"))
    return show("REFUGE section 4.1, two experts, %", lines)


def refuge_section_5_1_2() -> int:
    """Rank the Dice of Table 6 for the two teams whose ranks the discussion repeats."""
    teams = read(TABLES / "refuge_table6_segmentation.csv")
    lines: list[Line] = []
    for team, cup, disc in (("BUCT", "2", "1"), ("CUHKMED", "3", "3")):
        for column, printed in (("dice_cup", cup), ("dice_disc", disc)):
            own = next(Fraction(row[column]) for row in teams if row["team"] == team)
            rank = 1 + sum(Fraction(row[column]) > own for row in teams)
            lines.append((team, f"{column} rank", f"{rank}", printed))
    return show("REFUGE section 5.1.2", lines)


def adam_texts() -> int:
    """Compare what the text and Table 4 say of Tables 5 and 9 with these tables."""
    disc = {row["team"]: row["rank"] for row in read(TABLES / "adam_table5_disc.csv")}
    lesions = read(TABLES / "adam_table9_lesions.csv")
    best = {lesion: max(row[f"{lesion}_f1"] for row in lesions) for lesion in LESIONS}
    lines = [
        ("Table 4, Airamatrix", "disc rank", disc["Airamatrix"], "1"),
        ("Table 4, XxlzT", "disc rank", disc["XxlzT"], "2"),
        ("Section 4.4, Airamatrix", "disc rank", disc["Airamatrix"], "1"),
        ("Section 3.4, VUNO EYE TEAM", "best hemorrhage_f1", best["hemorrhage"], "0.7307"),
        ("Section 3.4, WWW", "best scar_f1", best["scar"], "0.7273"),
        ("Section 4.2, ForbiddenFruit", "best f1 of a lesion", max(best.values()), "0.8293"),
    ]
    return show("ADAM, the text and its tables", lines)


def edd2020_counts() -> int:
    """Add the annotations of section III."""
    lines = [("training data", "annotations", f"{160 + 88 + 74 + 53 + 127}", "503")]
    return show("EDD2020 section III", lines)


def cysts_hours() -> int:
    """Compute how long the annotation takes: 15 minutes a B-scan, 200 of them in each of 20 volumes."""
    volume = Fraction(15, 60) * 200
    weeks = 20 * volume / 40
    months = weeks * 7 / (Fraction("365.25") / 12)
    lines = [
        ("one volume", "hours", f"{volume}", "50"),
        ("20 volumes", "hours", f"{20 * volume}", "1000"),
        ("20 volumes", "months at 40 h a week", f"{float(months):.2f}", "6"),
    ]
    return show("Cyst benchmark, time of a single reader", lines)


def justraigs_sample_size() -> int:
    """Compute half of Wilson's 95 % interval in per cent, for 16 % referable of 9,741 eyes."""
    lines = []
    for name, share, eyes, printed in (
        ("sensitivity, first", 0.80, 1559, "2"),
        ("specificity, first", 0.95, 8182, "0.5"),
        ("sensitivity", 0.80, 1559, "0.5"),
        ("specificity", 0.95, 8182, "2"),
    ):
        interval = wilson_interval(share * eyes, eyes)
        half = 50 * (interval.upper - interval.lower)
        lines.append((name, "half_width", f"{half:.1f}", printed))
    return show("JustRAIGS sample size", lines)


def cysts() -> int:
    """Compute what needs neither the images of the benchmark nor its Tables 2 to 4."""
    half = (0.5, 1.0, 0.25)
    # Printed are the accuracies of reader 1 at confidence 1 and of reader 3 at 4 and 5. With three readers
    # and three parts every pair has one part, whatever the others are.
    printed: dict[str, dict[int, float]] = {"1": {1: 0.42}, "2": {}, "3": {4: 0.89, 5: 0.89}}
    unknown = dict.fromkeys(range(1, 6), np.nan)
    accuracies = {name: np.array([0.4, *(unknown | own).values()]) for name, own in printed.items()}
    pairs = assign(accuracies, 3)
    vendors = {"Cirrus": 9, "Nidek": 3, "Spectralis": 3, "Topcon": 11}
    lines = [
        ("all vendors", "volumes", str(sum(vendors.values())), "26"),
        *(
            (f"readers {first} and {second}", "parts", str(pairs.count((first, second))), "1")
            for first, second in (("1", "2"), ("2", "3"), ("1", "3"))
        ),
    ]
    status = show("Cyst benchmark, volumes and assignment of readers", lines)
    value = weighted_dice_of_sums(half)
    print(f"  Eq. 3, binary mask against confidence 0.5: {value:g}, by hand 2·0.5 / 1.25 = 0.8")
    weights, values = (0.89, 0.42), (0.87, 0.54)
    combined = sum(w * v for w, v in zip(weights, values, strict=True)) / sum(weights)
    print(f"  Eq. 4 of the printed accuracies and distinctions, 0.89 · 0.87 and 0.42 · 0.54: {combined:.4f}")
    print(
        "  Eq. 1 and 2 (distinction 0.87 and 0.54, Tables 2 to 4): need the images; not printed with inputs"
    )
    return status


def scores_from_their_parts(edd2020: Path, justraigs: Path) -> int:
    """Compute EDD2020's Eq. 5 and 6 and JustRAIGS' composite from the parts in two files metrics.json."""
    edd = json.loads(edd2020.read_text("utf-8"))["aggregates"]
    eyes = json.loads(justraigs.read_text("utf-8"))
    detection, segmentation = (
        {name: found["value"] for name, found in edd[task].items()} for task in ("detection", "segmentation")
    )
    referral = eyes["aggregates"]["referral"]["sensitivity_at_95_specificity"]["value"]
    hamming = eyes["aggregates"]["justification"]["hamming_distance"]["value"]
    total = eyes["ranking"]["composites"]["referral_and_justification_error"]["value"]
    parts = [segmentation[name] for name in ("precision", "recall", "f1", "f2")]
    lines = [
        ("EDD2020", "score_d", 0.6 * detection["map_d"] + 0.4 * detection["iou_d"], detection["score_d"]),
        ("EDD2020", "score_s", 0.25 * sum(parts), segmentation["score_s"]),
        ("JustRAIGS", "(1 − sens.) + Hamming", (1 - referral) + hamming, total),
    ]
    return show(
        "Scores from their parts, and as evaluate gives them (the papers print formulas alone)",
        [(team, column, f"{ours:.6f}", f"{found:.6f}") for team, column, ours, found in lines],
        _FOUR_DIGITS,
    )


if __name__ == "__main__":
    checks = (
        refuge_table_4,
        refuge_experts,
        refuge_section_5_1_2,
        adam_table_1,
        adam_table_9_from_table_1,
        adam_table_10,
        adam_table_11,
        adam_table_14,
        adam_texts,
        edd2020_counts,
        justraigs_sample_size,
        cysts,
        cysts_hours,
    )
    status = max(check() for check in checks)
    sys.exit(max(status, scores_from_their_parts(*map(Path, sys.argv[1:]))))
