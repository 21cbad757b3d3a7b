"""Pictures of the built benchmark: which B-scans they show, and what is missing is named."""

import re
import shutil

import numpy as np
import SimpleITK

from evaluation.cli.main import main
from evaluation.core.fault import PhaseError
from evaluation.organiser.cyst_benchmark.benchmark_pictures import part_gallery
from test.faults import faulted
from test.organiser.cyst_benchmark.conftest import ANNOTATIONS
from test.organiser.cyst_benchmark.test_steps import rows


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
    assert main([*arguments, "--annotations", str(ANNOTATIONS), *phase]) == 0
    text = page.read_text()
    assert text.count("data:image/png;base64,") == 4 + 4 + 4  # chosen, both runs, and the benchmark
    for title in ("First and second annotations", "B-scans with their annotations", "The benchmark"):
        assert title in text
    page.unlink()
    assert main([*arguments, *phase]) == 1
    assert "--phase: expected only together with --annotations" in capsys.readouterr().err
    assert not page.exists()
