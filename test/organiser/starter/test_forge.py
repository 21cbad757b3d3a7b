"""Phases from a Grand Challenge Forge pack; packs follow the generators that the platform publishes."""

import copy
import dataclasses
import json
import re
import tomllib

import pytest

from evaluation.cli.main import main
from evaluation.core.fault import PhaseError
from evaluation.evaluate import Result, check, evaluate
from evaluation.organiser.rehearsal import rehearse
from evaluation.organiser.starter.forge import write_from_pack
from evaluation.organiser.validate import validate_phase
from evaluation.phase.config import read_config
from evaluation.phase.form_file import write_form
from evaluation.phase.manifest import scan, seal
from evaluation.phase.phase import load_phase
from test.faults import faulted


def socket(slug, kind, path=None, super_kind="File"):
    return {"slug": slug, "relative_path": path or f"{slug}.json", "kind": kind, "super_kind": super_kind}


CT = socket("thorax-ct", "Image", "images/thorax-ct", "Image")
MR = socket("brain-mr", "Image", "images/brain-mr", "Image")
AGE = {**socket("patient-age", "Integer", super_kind="Value"), "example_value": 42}
REPORT = socket("report", "String", super_kind="Value")
METADATA = socket("metadata", "Anything")
RISK = socket("risk", "Float", super_kind="Value")
SCORE_CT = socket("score-ct", "Float", super_kind="Value")
SCORE_MR = socket("score-mr", "Point")
MESH = socket("mesh", "OBJ file", "mesh.obj")


def pack(*interfaces, slug="final-test", **more):
    archive = {"slug": "a", "url": "https://grand-challenge.org/archives/a/"}
    phase = {
        "slug": slug,
        "archive": archive,
        "algorithm_interfaces": list(interfaces),
        "evaluation_additional_inputs": [],
        "evaluation_additional_outputs": [],
        **more,
    }
    challenge = {
        "slug": "c",
        "url": "https://c.grand-challenge.org",
        "archives": [archive],
        "phases": [phase],
    }
    return {"challenge": challenge}


def written(tmp_path, content):
    """Write the only phase of a pack; return its folder and the notes."""
    file = tmp_path / "pack.json"
    file.write_text(json.dumps(content), encoding="utf-8")
    found = write_from_pack(tmp_path / "repositories", file)
    (folder,) = found.folders
    return folder, found.notes


def toml_of(folder):
    return tomllib.loads((folder / "phase" / "phase.toml").read_text(encoding="utf-8"))


def sealed(folder):
    scanned = scan(folder / "phase")
    validate_phase(folder / "phase", scanned, 0)
    seal(folder / "phase", scanned)
    return load_phase(folder / "phase")


def scored(folder, rehearsed=False):
    """Take the steps of the README in this process; return the result, as `metrics.json` has it.

    A rehearsal takes the most time of them, and asks nothing of the jobs.
    """
    phase = sealed(folder)
    assert not rehearsed or not rehearse(phase, workers=0).problems
    assert faults_of(folder) == []
    result = evaluate(phase, folder / "submission", 0)
    assert isinstance(result, Result), result
    metrics = dataclasses.asdict(result.metrics)
    assert metrics["cases"]["worst"] == 0
    return metrics


def test_a_pack_without_interfaces(tmp_path):
    old = pack(algorithm_inputs=[CT, AGE], algorithm_outputs=[RISK, SCORE_MR])
    del old["challenge"]["phases"][0]["algorithm_interfaces"]
    folder, _ = written(tmp_path, old)
    assert toml_of(folder)["fields"].keys() == {"risk", "score_mr"}
    scored(folder)


# `InterfaceKindChoices` of the platform (app/grandchallenge/components/models.py), and the kind here.
KINDS = {
    "String": "class", "Integer": "number", "Float": "number", "Bool": "decision", "Anything": "number",
    "Chart": None, "2D bounding box": "box", "Multiple 2D bounding boxes": "boxes",
    "Distance measurement": None, "Multiple distance measurements": None, "Point": "point",
    "Multiple points": "points", "Polygon": None, "Multiple polygons": None, "Line": None,
    "Multiple lines": None, "Angle": None, "Multiple angles": None, "Ellipse": None,
    "Multiple ellipses": None,
    "Three-point angle": None, "Multiple three-point angles": None, "Affine transform registration": None,
    "Choice": "class", "Multiple choice": "flags", "Image": "label_map", "Segmentation": "label_map",
    "Heat Map": "probability_map", "Displacement field": None, "DICOM Image Set": None, "PDF file": None,
    "SQREG file": None, "Thumbnail jpg": None, "Thumbnail png": None, "OBJ file": None, "MP4 file": None,
    "Newick tree-format file": None, "BIOM format": None, "CSV file": None, "ZIP file": None,
}  # fmt: skip
IMAGES = ("Image", "Segmentation", "Heat Map", "Displacement field", "DICOM Image Set")
GUESSED = ("String", "Anything", "Image")


def slug_of(kind):
    return re.sub("[^a-z0-9]+", "-", kind.lower())


def output_of(kind):
    slug = f"out-{slug_of(kind)}"
    return socket(slug, kind, f"images/{slug}", "Image") if kind in IMAGES else socket(slug, kind)


def test_every_kind_of_the_platform_is_scored_or_named_as_unscored(tmp_path):
    outputs = {kind: output_of(kind) for kind in KINDS}
    folder, notes = written(tmp_path, pack({"inputs": [CT], "outputs": [*outputs.values()]}))
    fields = {field["socket"]: field["kind"] for field in toml_of(folder)["fields"].values()}
    assert fields == {outputs[kind]["slug"]: here for kind, here in KINDS.items() if here}
    text = (folder / "phase" / "phase.toml").read_text(encoding="utf-8")
    told = {outputs[kind]["slug"]: kind for kind, here in KINDS.items() if here is None or kind in GUESSED}
    assert len(notes) == len(told)
    for note, (slug, kind) in zip(notes, told.items(), strict=True):
        done = "declared as" if slug in fields else "not scored"
        assert note.startswith(f"phase final-test: output {slug} ({kind}) is {done}")
        assert f"# output {slug} ({kind}) is {done}" in text
    found = scored(folder, rehearsed=True)["aggregates"]["all"]
    assert len(found) == len(fields)
    # One prediction in four is wrong everywhere.
    assert not [name for name, figure in found.items() if figure["value"] in (0, 1)]


def test_a_phase_of_nothing_else_is_left_out(tmp_path):
    content = pack(
        {"inputs": [CT], "outputs": [output_of(kind) for kind, here in KINDS.items() if here is None]}
    )
    with pytest.raises(PhaseError) as error:
        written(tmp_path, content)
    expected = "phase final-test: left out: no output of a kind that can be declared"
    assert error.value.problems == (f"pack.json: {expected}",)
    assert not (tmp_path / "repositories").exists()


def test_the_other_phases_of_a_pack_are_written(tmp_path, capsys):
    content = pack({"inputs": [CT], "outputs": [MESH]})
    content["challenge"]["phases"] += pack({"inputs": [CT], "outputs": [RISK]}, slug="risk")["challenge"][
        "phases"
    ]
    file = tmp_path / "pack.json"
    file.write_text(json.dumps(content), encoding="utf-8")
    assert main(["new", str(tmp_path / "new"), "--from", str(file)]) == 1
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["risk"]
    streams = capsys.readouterr()
    assert streams.out == f"{tmp_path / 'new' / 'risk'}\n"
    assert streams.err == "phase final-test: left out: no output of a kind that can be declared\n"


def test_sockets_become_fields(tmp_path):
    outputs = [RISK, socket("organs", "Segmentation", "images/organs", "Image")]
    folder, notes = written(tmp_path, pack({"inputs": [AGE, CT], "outputs": outputs}))
    assert folder.name == "final-test"
    assert (folder / "requirements.txt").is_file()
    assert not notes
    config = read_config(folder / "phase")
    assert config.submission == "algorithm"
    assert config.input_sockets == ("thorax-ct",)
    assert not config.interfaces
    fields = toml_of(folder)["fields"]
    assert {name: (field["socket"], field["output"]) for name, field in fields.items()} == {
        "risk": ("risk", "risk.json"),
        "organs": ("organs", "images/organs"),
    }


def test_interfaces_of_the_same_outputs_need_no_tables(tmp_path):
    folder, _ = written(
        tmp_path, pack({"inputs": [CT], "outputs": [RISK]}, {"inputs": [MR, AGE], "outputs": [RISK]})
    )
    config = read_config(folder / "phase")
    assert config.input_sockets == ("thorax-ct", "brain-mr")
    assert not config.interfaces
    scored(folder)


TWO = ({"inputs": [CT], "outputs": [SCORE_CT]}, {"inputs": [MR, AGE], "outputs": [SCORE_MR]})


def test_fields_belong_to_interfaces(tmp_path):
    folder, _ = written(tmp_path, pack(*TWO))
    result = scored(folder)
    assert list(result["aggregates"]) == ["thorax_ct", "brain_mr"]
    assert list(result["aggregates"]["brain_mr"]) == ["score_mr_mean_radial_error"]
    jobs = json.loads((folder / "submission" / "predictions.json").read_text(encoding="utf-8"))
    inputs = {tuple(item["socket"]["slug"] for item in job["inputs"]) for job in jobs}
    assert inputs == {("thorax-ct",), ("brain-mr", "patient-age")}


def edit_jobs(folder, edit):
    path = folder / "submission" / "predictions.json"
    jobs = json.loads(path.read_text(encoding="utf-8"))
    jobs = edit(jobs) or jobs
    path.write_text(json.dumps(jobs), encoding="utf-8")


def faults_of(folder):
    form = load_phase(folder / "phase", scan(folder / "phase")).form
    return sorted(map(str, check(form, folder / "submission", 0).faults))


def with_inputs(jobs, *slugs):
    return next(job for job in jobs if tuple(item["socket"]["slug"] for item in job["inputs"]) == slugs)


def test_a_job_has_the_inputs_and_outputs_of_the_interface_of_its_case(tmp_path):
    folder, _ = written(tmp_path, pack(*TWO))
    edit_jobs(folder, lambda jobs: with_inputs(jobs, "brain-mr", "patient-age")["outputs"].clear())
    (fault,) = faults_of(folder)
    assert "socket score-mr: expected an output, found none" in fault

    def edit(jobs):
        job = with_inputs(jobs, "thorax-ct")
        job["inputs"][0]["image"]["name"] = "case090"  # a case of the other interface
        with_inputs(jobs, "brain-mr", "patient-age")["inputs"].pop()

    edit_jobs(folder, edit)
    faults = faults_of(folder)
    assert any("thorax-ct: expected the name of an image of interface thorax_ct" in f for f in faults)
    assert any("(thorax_ct: thorax-ct; brain_mr: brain-mr, " in f for f in faults)


def test_an_interface_without_any_field_takes_its_jobs(tmp_path):
    folder, notes = written(tmp_path, pack(TWO[0], {"inputs": [MR], "outputs": [MESH]}))
    assert [note.partition(": ")[2] for note in notes] == [
        "output mesh (OBJ file) is not scored: no kind of field is like it"
    ]
    result = scored(folder)
    assert list(result["aggregates"]) == ["all"]


JSON_TYPES = {"Integer": int, "Float": float, "String": str, "Choice": str, "Multiple choice": list}


# Images tell cases apart by their names, and a yes or no cannot.
INPUTS = tuple(kind for kind in KINDS if kind not in (*IMAGES, "Bool"))


def input_of(kind):
    slug = f"in-{slug_of(kind)}"
    if not re.search("file|format|Thumbnail", kind):
        return socket(slug, kind, super_kind="Value")
    path = {"Thumbnail jpg": "x.jpeg", "Thumbnail png": "x.png", "Newick tree-format file": "tree.newick"}
    return socket(slug, kind, path.get(kind, f"in.{kind.split()[0].lower()}"))


def test_an_input_of_any_kind_tells_the_jobs_of_the_sample_apart(tmp_path):
    sockets = {kind: input_of(kind) for kind in INPUTS}
    interfaces = ({"inputs": [inp], "outputs": [RISK]} for inp in sockets.values())
    folder, _ = written(tmp_path, pack(*interfaces))
    jobs = json.loads((folder / "submission" / "predictions.json").read_text(encoding="utf-8"))
    for kind, inp in sockets.items():
        items = [job["inputs"][0] for job in jobs if job["inputs"][0]["socket"]["slug"] == inp["slug"]]
        is_file = inp["super_kind"] == "File"
        found = [item["file" if is_file else "value"] for item in items]
        assert len(found) > 1
        assert len({json.dumps(value) for value in found}) == len(found), kind
        assert {type(value) for value in found} == {str if is_file else JSON_TYPES.get(kind, dict)}, kind
        if kind.startswith(("Multiple p", "Point", "Two", "2D", "Polygon", "Line")):
            assert {value["type"] for value in found} == {kind}
    scored(folder)


@pytest.mark.weekly
@pytest.mark.parametrize("kind", KINDS)
def test_a_phase_of_each_kind_alone_rehearses_and_is_scored(tmp_path, kind):
    """Its interface has no other input of a kind that tells cases apart, and no other output but a number."""
    inp = input_of(kind) if kind in INPUTS else CT
    folder, _ = written(tmp_path, pack({"inputs": [inp], "outputs": [RISK, output_of(kind)]}))
    scored(folder, rehearsed=True)


def test_a_file_is_named_like_its_case_with_the_extension_of_its_socket(tmp_path):
    inp = socket("inp", "MP4 file", "in.mp4")
    folder, _ = written(tmp_path, pack({"inputs": [inp], "outputs": [RISK]}))
    expected = scored(folder)["aggregates"]

    def edit(jobs, change):
        for job in jobs:
            job["inputs"][0]["file"] = change(job["inputs"][0]["file"])

    edit_jobs(folder, lambda jobs: edit(jobs, lambda name: name.replace(".mp4", ".MP4")))
    assert scored(folder)["aggregates"] == expected
    table = folder / "phase" / "cases.csv"
    text = re.sub("^(case[0-9]+)", r"\1.mp4", table.read_text(encoding="utf-8"), flags=re.MULTILINE)
    table.write_text(text, encoding="utf-8")
    assert scored(folder)["aggregates"] == expected
    edit_jobs(folder, lambda jobs: edit(jobs, lambda name: name.replace(".MP4", ".avi")))
    assert "expected the name of an image of this phase, found 'case" in faults_of(folder)[0]


def test_values_tell_jobs_apart_together(tmp_path):
    folder, notes = written(tmp_path, pack({"inputs": [METADATA, REPORT, AGE], "outputs": [RISK]}))
    (note,) = notes
    assert "jobs are told apart by the value of report and patient-age" in note
    expected = scored(folder)["aggregates"]
    first = '"{""report"": ""The input of case01."", ""patient-age"": 43}"'
    table = folder / "phase" / "cases.csv"
    text = table.read_text(encoding="utf-8")
    assert first in text
    # Cases of equal reports and different ages, and the other way round.
    table.write_text(text.replace("The input of case02.", "The input of case01."), encoding="utf-8")

    def edit(jobs):
        for job in jobs:
            change_value(job, lambda text: text.replace("case02", "case01"))

    edit_jobs(folder, edit)
    assert scored(folder)["aggregates"] == expected
    edit_jobs(folder, lambda jobs: change_value(jobs[0], lambda text: f"{text} Later: ..."))
    (fault,) = faults_of(folder)
    assert "socket report and patient-age: expected the values of a case of interface report" in fault
    table.write_text(text.replace('""report""', '""sex""'), encoding="utf-8")
    with pytest.raises(PhaseError) as error:
        sealed(folder)
    assert "expected a JSON object with report, patient-age" in error.value.problems[0]


def test_a_yes_or_no_tells_no_cases_apart(tmp_path):
    flag = socket("flag", "Bool", super_kind="Value")
    with pytest.raises(PhaseError) as error:
        written(tmp_path, pack({"inputs": [flag], "outputs": [RISK]}))
    assert "input flag (Bool) cannot tell its cases apart" in error.value.problems[0]
    folder, _ = written(tmp_path, pack({"inputs": [flag, AGE], "outputs": [RISK]}))
    scored(folder)


def test_jobs_are_told_apart_by_a_value(tmp_path):
    folder, notes = written(tmp_path, pack({"inputs": [METADATA, REPORT], "outputs": [RISK]}))
    (note,) = notes
    assert note.endswith("jobs are told apart by the value of report, the column input_value of cases.csv")
    result = scored(folder)
    form = write_form(load_phase(folder / "phase").form)
    assert b"The input of" not in form
    # White space does not matter, another value does.
    edit_jobs(folder, lambda jobs: change_value(jobs[0], lambda text: f" {text.replace(' ', chr(10))}"))
    assert scored(folder)["aggregates"] == result["aggregates"]
    edit_jobs(folder, lambda jobs: change_value(jobs[0], lambda text: f"{text} Later: ..."))
    (fault,) = faults_of(folder)
    assert "socket report: expected the value of a case of interface report, found another one" in fault


def change_value(job, change):
    (item,) = (item for item in job["inputs"] if item["socket"]["slug"] == "report")
    item["value"] = change(item["value"])


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("", "cases.csv, line 2, input_value: expected the value of the input, found nothing"),
        (
            "The input of case02.",
            "cases.csv, line 3, input_value: expected a value of its own, found that of line 2",
        ),
    ],
)
def test_values_that_tell_no_cases_apart(tmp_path, value, expected):
    folder, _ = written(tmp_path, pack({"inputs": [REPORT], "outputs": [RISK]}))
    table = folder / "phase" / "cases.csv"
    text = table.read_text(encoding="utf-8").replace("The input of case01.", value)
    table.write_text(text, encoding="utf-8")
    with pytest.raises(PhaseError) as error:
        sealed(folder)
    assert error.value.problems == (expected,)


def test_json_files_do_not_tell_jobs_apart(tmp_path):
    folder, notes = written(tmp_path, pack({"inputs": [METADATA], "outputs": [RISK]}))
    (note,) = notes
    assert "input metadata is a JSON file: it tells jobs apart only if each was uploaded under" in note
    scored(folder)

    def edit(jobs):
        for job in jobs:
            job["inputs"][0]["file"] = "https://grand-challenge.org/media/1/metadata.json"

    edit_jobs(folder, edit)
    assert "found 'metadata.json', the name of the socket, which every job has" in faults_of(folder)[0]


ADDITIONAL = [
    socket("performance", "Chart", "figures/performance.json"),
    socket("everything", "Anything"),
    socket("page", "PDF file", "page.pdf"),
]


def test_additional_outputs_are_written_to_their_place(tmp_path):
    content = pack({"inputs": [CT], "outputs": [RISK]}, evaluation_additional_outputs=ADDITIONAL)
    folder, notes = written(tmp_path, content)
    assert not notes
    scored(folder)
    output = tmp_path / "output"
    places = {"--ground-truth": folder / "phase", "--input": folder / "submission", "--output": output}
    arguments = ["evaluate", "--workers", "0", *(str(part) for item in places.items() for part in item)]
    assert main(arguments) == 0
    files = {path.relative_to(output).as_posix() for path in output.rglob("*") if path.is_file()}
    assert files == {"metrics.json", "everything.json", "figures/performance.json", "page.pdf"}
    assert (output / "everything.json").read_bytes() == (output / "metrics.json").read_bytes()
    chart = json.loads((output / "figures" / "performance.json").read_text(encoding="utf-8"))
    assert chart["$schema"] == "https://vega.github.io/schema/vega-lite/v5.json"
    page = (output / "page.pdf").read_bytes()
    assert page.startswith(b"%PDF-")
    assert b"/Count 1" in page


@pytest.mark.parametrize("kind", ["Image", "Thumbnail png", "Float", "CSV file"])
def test_an_output_that_cannot_be_written_is_refused(tmp_path, kind):
    content = pack({"inputs": [CT], "outputs": [RISK]}, evaluation_additional_outputs=[output_of(kind)])
    with pytest.raises(PhaseError) as error:
        written(tmp_path, content)
    (problem,) = error.value.problems
    assert f"additional output out-{slug_of(kind)} ({kind}): nothing can be written there" in problem


def flagged(slug, path, example=None, **flags):
    """Return a socket as the platform's own generator has it since 2025."""
    return {"slug": slug, "relative_path": path, "example_value": example, **flags}


# The shape of DEFAULT_PHASE_CONTEXT_STUB of the platform (app/tests/forge_tests/utils.py).
PANIMG = {"is_image_kind": True, "is_panimg_kind": True}
JSON_FILE = {"is_file_kind": True, "is_json_kind": True}
DICOM = {"is_image_kind": True, "is_dicom_image_kind": True}
DEFAULT_PHASE = {
    "challenge": {"slug": "challenge-slug", "url": "https://challenge-slug.grand-challenge.org/"},
    "slug": "phase-slug",
    "archive": {"slug": "archive-slug", "url": "https://grand-challenge.org/archives/archive-slug/"},
    "algorithm_interfaces": [
        {
            "inputs": [
                flagged("input", "images/input", **PANIMG),
                flagged("another-input", "another-input.json", {"key": "value"}, **JSON_FILE),
                flagged("non-json-input", "non-json-input", is_file_kind=True),
                flagged("dicom-input", "images/dicom-input", **DICOM),
            ],
            "outputs": [
                flagged("output", "images/output", **PANIMG),
                flagged("another-output", "output-value.json", {"key": "value"}, **JSON_FILE),
                flagged("non-json-output", "non-json-output", is_file_kind=True),
                flagged("dicom-output", "images/dicom-output", **DICOM),
            ],
        },
        {
            "inputs": [flagged("input-2", "images/input", **PANIMG)],
            "outputs": [flagged("output-2", "images/output", **PANIMG)],
        },
    ],
    "evaluation_additional_inputs": [flagged("additional-input", "images/additional", **PANIMG)],
    "evaluation_additional_outputs": [
        flagged("additional-image", "images/additional", **PANIMG),
        flagged("additional-output", "output-value.json", {"key": "value"}, **JSON_FILE),
    ],
}


def test_the_default_of_the_platforms_generator(tmp_path):
    content = copy.deepcopy(DEFAULT_PHASE)
    with pytest.raises(PhaseError) as error:
        written(tmp_path, content)
    (problem,) = error.value.problems
    assert "additional output additional-image (Image): nothing can be written there" in problem
    del content["evaluation_additional_outputs"][0]
    folder, notes = written(tmp_path, content)
    assert [note.partition(": ")[2].partition(":")[0] for note in notes] == [
        "the evaluation's input additional-input (Image) is not used",
        "output output (Image) is declared as a segmentation",
        "output another-output (Anything) is declared as a number from 0 to 1",
        "output non-json-output (File) is not scored",
        "output dicom-output (DICOM Image Set) is not scored",
        "output output-2 (Image) is declared as a segmentation",
    ]
    result = scored(folder)
    assert {task: list(found) for task, found in result["aggregates"].items()} == {
        "input": ["output_dice", "another_output_auc"],
        "input_2": ["output_2_dice"],
    }


JSON = {"is_json_kind": True}
TRANSFORM = {"3d_affine_transform": [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]}
VEGA = {"$schema": "https://vega.github.io/schema/vega-lite/v5.json", "data": {"values": []}, "layer": []}


EXAMPLES = [
    (TRANSFORM, None),
    (["Choice 1", "Choice 2"], "flags"),
    (VEGA, None),
    ({"type": "Angle", "lines": []}, None),
    ({"type": "tumour"}, None),
    ({"type": "Multiple points", "points": []}, "points"),
    ({"volume_ml": 3.5}, None),
    ([0.1, 0.9], None),
    (42.0, "number"),
    (True, "decision"),
    ({"key": "value", "None": None}, "number"),
    (None, "number"),
]


@pytest.mark.parametrize("named", [True, False])
def test_the_example_shows_the_kind(tmp_path, named):
    outputs = {}
    for number, (example, kind) in enumerate(EXAMPLES):
        slug = f"out-{number}"
        of_kind = {**socket(slug, "Anything"), "example_value": example}
        outputs[slug] = (of_kind if named else flagged(slug, f"{slug}.json", example, **JSON), kind)
    folder, notes = written(
        tmp_path, pack({"inputs": [CT], "outputs": [output for output, _ in outputs.values()]})
    )
    found = {field["socket"]: field["kind"] for field in toml_of(folder)["fields"].values()}
    assert found == {slug: kind for slug, (_, kind) in outputs.items() if kind}
    assert sum("is not scored" in note for note in notes) == sum(kind is None for _, kind in EXAMPLES)


def test_additional_outputs_are_known_by_example_and_extension(tmp_path):
    outputs = [
        flagged("chart", "chart.json", VEGA, **JSON),
        flagged("page", "page.pdf", is_file_kind=True),
        flagged("table", "table.json", {"rows": []}, **JSON),
    ]
    content = pack({"inputs": [CT], "outputs": [RISK]}, evaluation_additional_outputs=outputs)
    folder, notes = written(tmp_path, content)
    assert toml_of(folder)["outputs"] == {
        "chart.json": "chart-metrics",
        "page.pdf": "pdf",
        "table.json": "metrics",
    }
    (note,) = notes
    assert "additional output table gets metrics.json: detach it if it has a schema" in note


FAULTS = {
    "no pack": ({"phases": []}, "pack.json: challenge is missing"),
    "no output": (pack({"inputs": [CT], "outputs": []}), "no output of a kind that can be declared"),
    "no input": (pack({"inputs": [], "outputs": [RISK]}), "algorithm_interfaces.0.inputs"),
    "a name that leads out": (
        pack({"inputs": [CT], "outputs": [RISK]}, slug="../../etc"),
        "pack.json: challenge.phases.0.slug: ",
    ),
    "a path that leads out": (
        pack({"inputs": [CT], "outputs": [socket("risk", "Float", "../risk.json")]}),
        "outputs.0.relative_path: ",
    ),
}


@pytest.mark.parametrize("case", FAULTS)
def test_faults_of_a_pack(tmp_path, case):
    content, expected = FAULTS[case]
    with pytest.raises(PhaseError) as error:
        written(tmp_path, content)
    assert expected in error.value.problems[0]
    assert not (tmp_path / "repositories").exists()


def test_a_file_that_is_no_json(tmp_path):
    (tmp_path / "pack.json").write_text("{", encoding="utf-8")
    with faulted(PhaseError, "pack.json, line 1", "an error at column 2"):
        write_from_pack(tmp_path / "repositories", tmp_path / "pack.json")
