"""Pictures of B-scans: which are chosen, and how confidences are painted."""

import base64
import io
import re
import shutil

import numpy as np
import SimpleITK
from PIL import Image
from scipy import ndimage

from evaluation.cli.main import main
from evaluation.core.fault import PhaseError
from evaluation.organiser.cyst_benchmark.benchmark_pictures import (
    b_scan_gallery,
    chosen_b_scans,
    painted,
    part_gallery,
    run_gallery,
)
from evaluation.organiser.cyst_benchmark.data import open_evaluation_set
from test.faults import faulted
from test.organiser.cyst_benchmark.conftest import ANNOTATIONS
from test.organiser.cyst_benchmark.test_steps import rows

ANNOTATORS = ("high", "low", "rough")


def missed_in(b_scan):
    """Cysts of the supervisor without a marked pixel, summed over the annotators."""
    marked = {
        name: (b_scan.levels[name, "run1"] > 0) | (b_scan.levels[name, "run2"] > 0)
        for name in (*ANNOTATORS, "supervisor")
    }
    cysts, count = ndimage.label(marked["supervisor"], structure=np.ones((3, 3)))
    return sum(
        not marked[name][cysts == number].any() for name in ANNOTATORS for number in range(1, count + 1)
    )


def test_the_b_scan_of_every_vendor_with_most_missed_cysts(work):
    chosen = chosen_b_scans(ANNOTATIONS, work)
    vendors = {row["volume"]: row["vendor"] for row in rows(ANNOTATIONS / "volumes.csv")}
    assert [shown.vendor for shown in chosen] == sorted(set(vendors.values()))
    for shown in chosen:
        assert vendors[shown.b_scan.volume] == shown.vendor
        assert shown.missed == missed_in(shown.b_scan)
    assert max(shown.missed for shown in chosen) > 0
    most = dict.fromkeys(vendors.values(), 0)
    for b_scan in open_evaluation_set(ANNOTATIONS, vendors):
        most[vendors[b_scan.volume]] = max(most[vendors[b_scan.volume]], missed_in(b_scan))
    assert {shown.vendor: shown.missed for shown in chosen} == most


def test_all_panels_of_every_vendor_and_both_runs_of_every_annotator(work):
    shown = chosen_b_scans(ANNOTATIONS, work)
    for picture in b_scan_gallery(shown, work).pictures:
        assert picture.alternative.partition(": ")[2].split(", ") == [
            *("original", "supervisor", "high", "low", "rough"),
            *("high+low", "high+rough", "low+rough", "high+low+rough"),
        ]
    gallery = run_gallery(shown)
    assert [picture.case for picture in gallery.pictures] == [one.b_scan.volume for one in shown]
    for one, picture in zip(shown, gallery.pictures, strict=True):
        names = picture.alternative.partition(": ")[2]
        assert names == "original, " + ", ".join(
            f"{name}, {run}" for name in ("supervisor", *ANNOTATORS) for run in ("run1", "run2")
        )
        # Three panels a row: the first run of the supervisor is the second panel; its marks are in colour.
        whole = np.array(Image.open(io.BytesIO(base64.b64decode(picture.source.partition(",")[2]))))
        first = whole[22:, 328:648][: whole.shape[0] // 3 - 30]
        coloured = (first.max(axis=2).astype(int) - first.min(axis=2)) > 30
        assert coloured.any() == (one.b_scan.levels["supervisor", "run1"] > 0).any()


def test_colours_of_confidences_by_hand():
    image = np.array([[0, 50, 100, 200]])
    confidence = np.array([[0.0, 0.0, 1.0, 0.5]])
    found = painted(image, confidence, 100.0)
    assert found[0, 0].tolist() == [0, 0, 0]
    assert found[0, 1].tolist() == [128, 128, 128]
    # 40 % white below 60 % vermilion (#D55E00) and yellow (#F0E442).
    assert found[0, 2].tolist() == [round(102 + 0.6 * channel) for channel in (0xD5, 0x5E, 0x00)]
    assert found[0, 3].tolist() == [round(102 + 0.6 * channel) for channel in (0xF0, 0xE4, 0x42)]


def test_tables_without_the_report_of_their_steps_are_refused(work, tmp_path):
    for table in work.glob("*.csv"):
        (tmp_path / table.name).write_bytes(table.read_bytes())
    with faulted(PhaseError, "report.json", "none"):
        chosen_b_scans(ANNOTATIONS, tmp_path)


# --- Pictures of the benchmark that was built ---


def test_the_b_scan_of_every_vendor_with_most_marks_and_the_annotators_of_its_part(built):
    vendors: dict[str, str] = {}
    for row in sorted(rows(ANNOTATIONS / "volumes.csv"), key=lambda row: row["volume"]):
        vendors.setdefault(row["vendor"], row["volume"])
    parts = {row["volume"]: row["part"] for row in rows(built / "work" / "partition.csv")}
    assigned = rows(built / "work" / "assignment.csv")
    pairs = {row["part"]: (row["reader_1"], row["reader_2"]) for row in assigned}
    gallery = part_gallery(ANNOTATIONS, built / "work", built / "phase")
    assert [picture.case for picture in gallery.pictures] == [vendors[vendor] for vendor in sorted(vendors)]
    for picture in gallery.pictures:
        (path,) = (built / "phase" / "confidence").glob(f"{picture.case}.*")
        marks = (SimpleITK.GetArrayFromImage(SimpleITK.ReadImage(str(path))) > 0).sum(axis=(1, 2))
        number = int(re.search(r"B-scan (\d+)$", picture.caption)[1])
        assert marks[number - 1] == marks.max() > 0
        assert not np.any(marks[: number - 1] == marks.max())
        pair = pairs[parts[picture.case]]
        assert picture.alternative.partition(": ")[2] == ", ".join(("original", *pair, " + ".join(pair)))


def test_a_volume_that_is_missing_is_named(built, tmp_path):
    phase = tmp_path / "phase"
    shutil.copytree(built / "phase", phase)
    for path in (phase / "confidence").iterdir():
        path.unlink()
    with faulted(PhaseError, "confidence/V01"):
        part_gallery(ANNOTATIONS, built / "work", phase)


def test_the_page_has_them_and_needs_the_annotations(built, tmp_path, capsys):
    page = tmp_path / "page.html"
    arguments = ["report", "benchmark", str(built / "work"), "--output", str(page)]
    phase = ["--phase", str(built / "phase")]
    figures = ["--figures", str(tmp_path / "figures")]
    assert main([*arguments, "--annotations", str(ANNOTATIONS), *phase, *figures]) == 0
    assert capsys.readouterr().out == f"{page}\n"
    assert (tmp_path / "figures" / "distributions.pdf").stat().st_size > 1000
    text = page.read_text()
    assert text.count("data:image/png;base64,") == 4 + 4 + 4  # chosen, both runs, and the benchmark
    for title in ("First and second annotations", "B-scans with their annotations", "The benchmark"):
        assert title in text
    page.unlink()
    assert main([*arguments, *phase]) == 1
    assert "--phase: expected only together with --annotations" in capsys.readouterr().err
    assert not page.exists()
