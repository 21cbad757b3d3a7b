"""`cases --archive`: the names of an archive's cases, from the items that grand-challenge.org exports."""

import json

import pytest

from evaluation.cli.main import main
from test.organiser.platform_pages import pages_of

forge = pytest.importorskip("test.organiser.starter.test_forge")
AGE, CT, MR, REPORT, RISK = forge.AGE, forge.CT, forge.MR, forge.REPORT, forge.RISK
SCORE_CT, SCORE_MR = forge.SCORE_CT, forge.SCORE_MR

IMAGES = "https://grand-challenge.org/api/v1/cases/images/"


def uuid(number):
    return f"00000000-0000-4000-8000-{number:012d}"


def item(number, *values, title=""):
    """Return an item as the platform's serialiser writes it, see `gcapi.models.ArchiveItem`."""
    nothing = {"value": None, "file": None, "image": None}
    found = [
        {"pk": number, "socket": {"slug": slug}, "interface": {"slug": slug}, **nothing, kind: content}
        for slug, kind, content in values
    ]
    archive = "https://grand-challenge.org/api/v1/archives/1/"
    return {"pk": uuid(number), "archive": archive, "title": title, "values": found}


def scan(name, slug="thorax-ct"):
    return (slug, "image", {"pk": uuid(99), "name": name})


def phase_of(tmp_path, *interfaces):
    """Return the phase of a kit without a case table."""
    folder, _ = forge.written(tmp_path, forge.phase_of(*interfaces))
    (folder / "phase" / "cases.csv").unlink()
    return folder / "phase"


@pytest.fixture
def phase(tmp_path):
    return phase_of(tmp_path, {"inputs": [CT, AGE], "outputs": [RISK]})


def cases(phase, *rows, images=None):
    """Run the command on files of rows; return its status and the table."""
    items = phase.parent / "items.json"
    items.write_text(json.dumps({"count": len(rows), "results": rows}), encoding="utf-8")
    files = [str(items)]
    if images is not None:
        files.append(str(phase.parent / "images.json"))
        (phase.parent / "images.json").write_text(json.dumps(images), encoding="utf-8")
    status = main(["cases", str(phase), "--archive", *files])
    return status, (phase / "cases.csv").read_text(encoding="utf-8").splitlines()


def test_addresses_of_images_need_the_export_of_images(phase, capsys):
    age = ("patient-age", "value", 40)
    rows = [
        item(1, scan("P1.mha"), age),
        item(2, ("thorax-ct", "image", f"{IMAGES}{uuid(7)}/"), age, title="second"),
    ]
    status, table = cases(phase, *rows)
    assert status == 1
    assert (
        "item second: expected one image or file of thorax-ct, found 0 names: also give"
        in capsys.readouterr().err
    )
    status, table = cases(phase, *rows, images=[{"pk": uuid(7), "name": "P2.mha", "files": []}])
    assert (status, table[-1].partition(",")[0]) == (0, "P2")


def test_items_with_another_socket_than_the_phase(tmp_path, capsys):
    """The template's labels do not become cases."""
    phase = tmp_path / "risk" / "phase"
    main(["new", str(phase.parent), "--like", "segmentation", "--algorithm"])
    before = {path.name: path.read_bytes() for path in phase.rglob("*") if path.is_file()}
    (tmp_path / "items.json").write_text(json.dumps([item(1, scan("P1.mha")), item(2, scan("P2.mha"))]))
    assert main(["cases", str(phase), "--archive", str(tmp_path / "items.json")]) == 1
    told = capsys.readouterr().err
    assert f"item {uuid(2)}: expected one image or file of image, found the sockets thorax-ct" in told
    assert "input_socket in phase.toml names the socket" in told
    assert before == {path.name: path.read_bytes() for path in phase.rglob("*") if path.is_file()}


@pytest.mark.parametrize("size", [1, 2])
def test_pages_of_items(phase, capsys, size):
    rows = [item(number, scan(f"P{number}.mha"), ("patient-age", "value", 40)) for number in (1, 2, 3)]
    files = []
    for number, page in enumerate(pages_of(rows, size, "archives/items/?archive=1")):
        files.append(str(phase.parent / f"{number}.json"))
        (phase.parent / f"{number}.json").write_text(json.dumps(page), encoding="utf-8")
    assert main(["cases", str(phase), "--archive", *files[1:]]) == 1
    assert f"expected all 3 rows, found {3 - size}, without 1" in capsys.readouterr().err
    assert not (phase / "cases.csv").exists()
    assert main(["cases", str(phase), "--archive", *reversed(files)]) == 0
    table = (phase / "cases.csv").read_text(encoding="utf-8").splitlines()
    assert sorted(line.partition(",")[0] for line in table[1:]) == ["P1", "P2", "P3"]


def test_an_item_without_an_input_and_a_name_that_is_there_twice(phase, capsys):
    age = ("patient-age", "value", 40)
    rows = [
        item(2, scan("P2.mha"), title="b"),
        item(1, scan("P1.mha"), age),
        item(3, scan("p1.tif"), age, title="c"),
    ]
    status, table = cases(phase, *rows)
    assert status == 1
    told = capsys.readouterr().err
    assert "item b: lacks patient-age, which other items have" in told
    assert f"item c: p1 is also the name of item {uuid(1)}" in told
    assert [line.partition(",")[0] for line in table] == ["name", "P2", "P1"]


def test_interfaces_and_values(tmp_path, capsys):
    interfaces = {"inputs": [CT], "outputs": [SCORE_CT]}, {"inputs": [MR], "outputs": [SCORE_MR]}
    rows = [
        item(1, scan("P1.mha")),
        item(2, scan("P2", "brain-mr")),
        item(3, scan("P3"), scan("P3", "brain-mr")),
    ]
    status, table = cases(phase_of(tmp_path, *interfaces), *rows)
    assert status == 1
    assert "expected the inputs of an interface" in capsys.readouterr().err
    assert ["interface" in table[0], "P1,thorax_ct" in table[1], "P2,brain_mr" in table[2]] == [True] * 3


def test_cases_that_are_told_apart_by_values(tmp_path):
    phase = phase_of(tmp_path, {"inputs": [REPORT, AGE], "outputs": [RISK]})
    rows = [item(1, ("report", "value", "No finding."), ("patient-age", "value", 50), title="first")]
    status, table = cases(phase, *rows)
    assert status == 0
    assert table[1].startswith('first,report,"{""report"": ""No finding."", ""patient-age"": 50}"')


@pytest.mark.parametrize("column", ["case", "Case", "name"])
def test_labels_with_a_column_called_case(tmp_path, column):
    phase = phase_of(tmp_path, {"inputs": [CT], "outputs": [RISK]})
    (tmp_path / "labels.csv").write_text(f"{column},risk\n1,1\n2,0\n", encoding="utf-8")
    assert main(["cases", str(phase), "--labels", str(tmp_path / "labels.csv")]) == 0
    table = (phase / "cases.csv").read_text(encoding="utf-8").splitlines()
    assert [line.split(",")[:2] for line in table] == [["name", "risk"], ["1", "1"], ["2", "0"]]
