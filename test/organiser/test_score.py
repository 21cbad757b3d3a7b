"""`score` as a user calls it: two folders or two tables, against figures computed beside it."""

import csv
import io
import json

import numpy as np
import pytest
import SimpleITK
from PIL import Image
from sklearn.metrics import cohen_kappa_score, roc_auc_score

from test.started import run

NAMES = [f"scan{number:02d}" for number in range(12)]


def write_volume(path, values, spacing=(0.5, 0.5, 2.0)):
    image = SimpleITK.GetImageFromArray(values)
    image.SetSpacing(spacing)
    path.parent.mkdir(exist_ok=True)
    SimpleITK.WriteImage(image, str(path))


def maps(seed, shape, numbers):
    """Return label maps by name, and predictions that differ in a few voxels."""
    random = np.random.default_rng(seed)
    true, made = {}, {}
    for name in NAMES:
        image = np.zeros(shape, np.uint8)
        for position, number in enumerate(numbers):
            image[..., 3 + 8 * position : 9 + 8 * position, 4:14] = number
        true[name] = image
        made[name] = np.where(random.random(shape) < 0.03, 0, np.roll(image, 1, axis=-1))
    return true, made


def dice(one, other, number):
    return 2 * ((one == number) & (other == number)).sum() / ((one == number).sum() + (other == number).sum())


def printed(done):
    """Return the rows of the cases by name, and the lines of the table."""
    assert done.returncode == 0, done.stderr
    cases, _, table = done.stdout.partition("\n\n")
    rows = {row["case"]: row for row in csv.DictReader(io.StringIO(cases))}
    return rows, [line.split("│")[1:-1] for line in table.splitlines() if line.startswith("│")]


def test_volumes_in_two_folders(tmp_path):
    true, made = maps(0, (4, 24, 20), (1, 7))
    for name in NAMES:
        write_volume(tmp_path / "labels" / f"{name}.nii.gz", true[name])
        if name != NAMES[-1]:
            write_volume(tmp_path / "found" / f"{name.upper()}.mha", made[name].astype(np.int16))
    write_volume(tmp_path / "found" / "other.mha", made[NAMES[0]])
    options = ("--metrics", "dice", "HD95", "nsd", "--names", "7=spleen", "--write-phase", tmp_path / "phase")
    done = run("score", tmp_path / "labels", tmp_path / "found", *options, "--output", tmp_path / "out")
    rows, table = printed(done)
    assert f"note: without a prediction, counted as worst: {NAMES[-1]}.nii.gz" in done.stderr
    assert "note: without a label, left out: other.mha" in done.stderr
    assert set(rows) == set(NAMES)
    for name in NAMES[:-1]:
        for column, number in (("dice_label_1", 1), ("dice_spleen", 7)):
            assert float(rows[name][column]) == pytest.approx(dice(true[name], made[name], number), abs=1e-5)
        assert 0.5 <= float(rows[name]["hd95_spleen"]) < 3
        assert 0.9 < float(rows[name]["nsd"]) <= 1  # all surfaces are within a millimetre or few voxels
    assert float(rows[NAMES[-1]]["dice"]) == 0
    written = json.loads((tmp_path / "out" / "metrics.json").read_text())
    figures = written["aggregates"]["segmentation"]
    expected = np.mean([float(row["dice_spleen"]) for row in rows.values()])
    assert figures["dice_spleen"]["value"] == pytest.approx(expected, abs=1e-4)
    interval = figures["dice_spleen"]["confidence_interval"]
    (shown,) = (row for row in table if row[1].strip() == "dice spleen")
    assert [cell.strip() for cell in shown[2:4]] == [
        f"{figures['dice_spleen']['value']:g}",
        f"{interval['lower']:g} to {interval['upper']:g}",
    ]
    # A challenge starts from the phase: it is sealed as it stands, and says the same.
    assert run("seal", tmp_path / "phase").returncode == 0
    again = run("score", tmp_path / "phase" / "labels", tmp_path / "found", *options[:6])
    assert printed(again)[0] == rows


def test_masks_of_grey_values_and_labels_that_no_reference_has(tmp_path):
    true, made = maps(1, (24, 20), (255,))
    made[NAMES[3]][0, 0] = 9
    for folder, images in (("labels", true), ("found", made)):
        (tmp_path / folder).mkdir()
        for name, image in images.items():
            Image.fromarray(image).save(tmp_path / folder / f"{name}.png")
    done = run("score", tmp_path / "labels", tmp_path / "found", "--cases", tmp_path / "cases.csv")
    assert "note: in predictions alone, not scored: label 9" in done.stderr
    assert done.returncode == 0
    assert "┃ metric" in done.stdout
    with (tmp_path / "cases.csv").open() as file:
        for row in csv.DictReader(file):
            name = row["case"]
            assert float(row["dice"]) == pytest.approx(dice(true[name], made[name], 255), abs=1e-5)
    Image.fromarray(made[NAMES[0]][:, :-1]).save(tmp_path / "found" / f"{NAMES[0]}.png")
    done = run("score", tmp_path / "labels", tmp_path / "found")
    assert done.returncode == 1
    assert f"{NAMES[0]}.png: expected 20 × 24 pixels, found 19 × 24 pixels" in done.stderr


def write_csv(path, rows):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


def test_two_tables_column_by_column(tmp_path):
    random = np.random.default_rng(2)
    disease = random.integers(0, 2, 80)
    likelihood = np.round(random.normal(disease * 0.2 + 0.4, 0.15).clip(0, 1), 3)
    grade = random.integers(0, 4, 80)
    graded = np.where(random.random(80) < 0.3, (grade + 1) % 4, grade)
    age = np.round(random.uniform(30, 80, 80), 1)
    told = np.round(age + random.normal(0, 3, 80), 1)
    names = [f"eye {number}" for number in range(80)]
    header = ["ID", "Disease", "grade", "Age"]
    labels = write_csv(tmp_path / "labels.csv", [header, *zip(names, disease, grade, age, strict=True)])
    order = random.permutation(80)
    found = [[names[i], told[i], graded[i], likelihood[i]] for i in order]
    predictions = write_csv(tmp_path / "found.csv", [["id", "age", "grade", "disease"], *found])
    rows, table = printed(run("score", labels, predictions))
    shown = {(row[0].strip(), row[1].strip()): row[2:] for row in table}
    assert float(shown["disease", "auc"][0]) == pytest.approx(roc_auc_score(disease, likelihood), abs=1e-4)
    assert " to " in shown["disease", "auc"][1]
    assert float(shown["grade", "accuracy"][0]) == pytest.approx(np.mean(grade == graded), abs=1e-4)
    assert float(shown["age", "mae"][0]) == pytest.approx(np.abs(age - told).mean(), abs=1e-4)
    assert len(rows) == 80
    only = write_csv(tmp_path / "grades.csv", [["id", "g"], *zip(names, grade, strict=True)])
    others = write_csv(tmp_path / "graded.csv", [["id", "other"], *zip(names, graded, strict=True)])
    _, table = printed(run("score", only, others, "--metrics", "QWK"))
    kappa = cohen_kappa_score(grade, graded, weights="quadratic")
    assert float(table[0][2]) == pytest.approx(kappa, abs=1e-4)


LABELS = [["id", "a"], ["x", "1"], ["y", "0"]]


@pytest.mark.parametrize(
    ("labels", "predictions", "options", "told"),
    [
        (LABELS, [["case", "a"], ["x", "0.5"]], (), "found in common a; --key COLUMN names it"),
        (LABELS, [["id", "b", "c"], ["x", "0.5", "1"]], (), "found a and b, c"),
        (LABELS, [["id", "a"], ["p", "0.5"]], (), "of the same names, found x, y and p"),
        (LABELS, [["id", "a"], ["x", "0.5"], ["X", "0"]], (), "expected every name once, found x, X"),
        (
            LABELS,
            [["id", "a"], ["x", "0.5"]],
            ("--metrics", "dice"),
            "--metrics dice: expected a metric of number",
        ),
        (
            [["id", "a"], ["x", "u"], ["y", "v"]],
            [["id", "a"], ["x", "0.5"]],
            (),
            "a: --positive CELL: expected u or v",
        ),
        (
            [["id", "a"], ["x", "u"], ["y", "v"]],
            [["id", "a"], ["x", "w"]],
            (),
            "classes of the labels (u, v), found w",
        ),
    ],
)
def test_tables_that_do_not_match(tmp_path, labels, predictions, options, told):
    tables = (write_csv(tmp_path / "l.csv", labels), write_csv(tmp_path / "p.csv", predictions))
    done = run("score", *tables, *options)
    assert done.returncode == 1
    assert told in done.stderr


def test_folders_that_cannot_be_scored(tmp_path):
    (tmp_path / "empty").mkdir()
    write_volume(tmp_path / "labels" / "a.mha", np.ones((2, 3, 4), np.uint8))
    write_volume(tmp_path / "found" / "a.mha", np.full((2, 3, 4), 0.5, np.float32))
    for predictions, told in (
        ("empty", "empty: expected images or volumes, found nothing"),
        ("none", "none: no such file or folder"),
        ("found", "a.mha: expected whole numbers, found 0.5"),
    ):
        done = run("score", tmp_path / "labels", tmp_path / predictions)
        assert (done.returncode, told in done.stderr) == (1, True), done.stderr
