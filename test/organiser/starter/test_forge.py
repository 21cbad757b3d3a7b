"""Phases from starter kits, which follow the generators that the platform publishes."""

import csv
import dataclasses
import json
import re
import tomllib
import zipfile

import pytest

from evaluation.cli.main import main
from evaluation.core.fault import PhaseError
from evaluation.evaluate import Result, check, evaluate
from evaluation.organiser.rehearsal import rehearse
from evaluation.organiser.starter.forge import write_from_kits
from evaluation.organiser.validate import validate_phase
from evaluation.phase.config import read_config
from evaluation.phase.form_file import write_form
from evaluation.phase.manifest import scan, seal
from evaluation.phase.phase import load_phase
from test.phases import replace_in


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


def phase_of(*interfaces, slug="final-test", inputs=(), outputs=()):
    """Return a phase, and the further inputs and outputs of its evaluation."""
    return {"slug": slug, "interfaces": interfaces, "inputs": inputs, "outputs": outputs}


def write_kit(path, *phases):
    """Write the zip of a kit, whose jobs have no values here: nothing asks for them."""
    with zipfile.ZipFile(path, "w") as archive:
        for phase in phases:
            method = f"{phase['slug']}/example_evaluation_method"
            jobs = [
                {key: [{"socket": one} for one in sockets] for key, sockets in interface.items()}
                for interface in phase["interfaces"]
            ]
            archive.writestr(f"{method}/test/input/predictions.json", json.dumps(jobs))
            archive.writestr(f"{method}/evaluate.py", "\n".join(program_of(phase)))
    return path


def program_of(phase):
    """Yield the calls of the program of a kit that read and write further inputs and outputs."""
    for one in phase["inputs"]:
        name, place = one["slug"].replace("-", "_"), f"INPUT_DIRECTORY / {one['relative_path']!r}"
        yield f"submission_{name} = load_image_file(location={place})"
    for one in phase["outputs"]:
        name, path = f"output_{one['slug'].replace('-', '_')}", one["relative_path"]
        function, content = "write_file", "content"
        if path.endswith(".json"):
            function = "write_json_file"
        elif path.startswith("images/"):
            function, content = "write_array_as_image_file", "array"
        yield f"{name} = {one.get('example_value')!r}"
        yield f"{function}(location=OUTPUT_DIRECTORY / {path!r}, {content}={name})"


def written(tmp_path, phase):
    """Write the only phase of a kit; return its folder and the notes."""
    found = write_from_kits(tmp_path / "repositories", write_kit(tmp_path / "kit.zip", phase))
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
GUESSED = ("String", "Float", "Anything", "Image")


def slug_of(kind):
    return re.sub("[^a-z0-9]+", "-", kind.lower())


def output_of(kind):
    slug = f"out-{slug_of(kind)}"
    return socket(slug, kind, f"images/{slug}", "Image") if kind in IMAGES else socket(slug, kind)


def test_every_kind_of_the_platform_is_scored_or_named_as_unscored(tmp_path):
    outputs = {kind: output_of(kind) for kind in KINDS}
    folder, notes = written(tmp_path, phase_of({"inputs": [CT], "outputs": [*outputs.values()]}))
    fields = {field["socket"]: field["kind"] for field in toml_of(folder)["fields"].values()}
    assert fields == {outputs[kind]["slug"]: here for kind, here in KINDS.items() if here}
    text = (folder / "phase" / "phase.toml").read_text(encoding="utf-8")
    told = {outputs[kind]["slug"]: kind for kind, here in KINDS.items() if here is None or kind in GUESSED}
    assert len(notes) == len(told)
    for note, (slug, kind) in zip(notes, told.items(), strict=True):
        done = f"output {slug} ({kind}) is {'declared as' if slug in fields else 'not scored'}"
        done = done if slug in fields else f"gap: {done}"
        assert note.startswith(f"phase final-test: {done}")
        assert f"# {done}" in text
    found = scored(folder, rehearsed=True)["aggregates"]["all"]
    assert len(found) == len(fields)
    # One prediction in four is wrong everywhere.
    assert not [name for name, figure in found.items() if figure["value"] in (0, 1)]


def test_the_other_phases_of_a_kit_are_written(tmp_path, capsys):
    phases = (
        phase_of({"inputs": [CT], "outputs": []}),
        phase_of({"inputs": [CT], "outputs": [SCORE_MR]}, slug="risk"),
    )
    file = write_kit(tmp_path / "kit.zip", *phases)
    assert main(["new", str(tmp_path / "new"), "--from", str(file)]) == 1
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["risk"]
    streams = capsys.readouterr()
    assert streams.out == f"{tmp_path / 'new' / 'risk'}\n"
    assert (
        streams.err
        == "phase final-test: left out: expected an output that a kind of field is like, found none\n"
    )


GUESS_OF_RISK = (
    "phase final-test: output risk (Float) is declared as a likelihood from 0 to 1: correct it if it is not"
)


def test_sockets_become_fields(tmp_path):
    outputs = [RISK, socket("organs", "Segmentation", "images/organs", "Image")]
    of_both = ({"inputs": [AGE, CT], "outputs": outputs}, {"inputs": [MR, AGE], "outputs": outputs})
    folder, notes = written(tmp_path, phase_of(*of_both))
    assert folder.name == "final-test"
    assert notes == (GUESS_OF_RISK,)
    config = read_config(folder / "phase")
    assert config.submission == "algorithm"
    # Interfaces of the same outputs need no tables.
    assert config.input_sockets == ("thorax-ct", "brain-mr")
    assert not config.interfaces
    fields = toml_of(folder)["fields"]
    assert {name: (field["socket"], field["output"]) for name, field in fields.items()} == {
        "risk": ("risk", "risk.json"),
        "organs": ("organs", "images/organs"),
    }
    scored(folder)


TWO = ({"inputs": [CT], "outputs": [SCORE_CT]}, {"inputs": [MR, AGE], "outputs": [SCORE_MR]})


def test_fields_and_jobs_belong_to_interfaces(tmp_path):
    folder, _ = written(tmp_path, phase_of(*TWO))
    result = scored(folder)
    assert list(result["aggregates"]) == ["thorax_ct", "brain_mr"]
    assert list(result["aggregates"]["brain_mr"]) == ["score_mr_mean_radial_error"]
    jobs = json.loads((folder / "submission" / "predictions.json").read_text(encoding="utf-8"))
    inputs = {tuple(item["socket"]["slug"] for item in job["inputs"]) for job in jobs}
    assert inputs == {("thorax-ct",), ("brain-mr", "patient-age")}
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
    folder, _ = written(tmp_path, phase_of(*interfaces))
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
    folder, _ = written(tmp_path, phase_of({"inputs": [inp], "outputs": [RISK, output_of(kind)]}))
    scored(folder, rehearsed=True)


def test_a_file_is_named_like_its_case_with_the_extension_of_its_socket(tmp_path):
    inp = socket("inp", "MP4 file", "in.mp4")
    folder, _ = written(tmp_path, phase_of({"inputs": [inp], "outputs": [RISK]}))
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


NOTHING = "cases.csv, line 2, input_value: expected the value of the input, found nothing"
TWICE = "cases.csv, line 3, input_value: expected a value of its own, found that of line 2"


@pytest.mark.parametrize(("value", "expected"), [("", NOTHING), ("The input of case02.", TWICE)])
def test_values_that_tell_no_cases_apart(tmp_path, value, expected):
    folder, _ = written(tmp_path, phase_of({"inputs": [REPORT], "outputs": [RISK]}))
    replace_in(folder / "phase" / "cases.csv", "The input of case01.", value)
    with pytest.raises(PhaseError) as error:
        sealed(folder)
    assert error.value.problems == (expected,)


def test_values_tell_jobs_apart_together(tmp_path):
    folder, notes = written(tmp_path, phase_of({"inputs": [METADATA, REPORT, AGE], "outputs": [RISK]}))
    note = notes[1]
    assert "jobs are told apart by the value of report and patient-age, the column input_value" in note
    expected = scored(folder)["aggregates"]
    assert b"The input of" not in write_form(load_phase(folder / "phase").form)
    first = '"{""report"": ""The input of case01."", ""patient-age"": 43}"'
    table = folder / "phase" / "cases.csv"
    text = table.read_text(encoding="utf-8")
    assert first in text
    # Cases of equal reports and different ages, and the other way round.
    table.write_text(text.replace("The input of case02.", "The input of case01."), encoding="utf-8")

    def edit(jobs):
        for job in jobs:
            # White space does not matter.
            change_value(job, lambda text: f" {text.replace('case02', 'case01').replace(' ', chr(10))}")

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
        written(tmp_path, phase_of({"inputs": [flag], "outputs": [RISK]}))
    assert "input flag (Bool) cannot tell its cases apart" in error.value.problems[0]
    folder, _ = written(tmp_path, phase_of({"inputs": [flag, AGE], "outputs": [RISK]}))
    scored(folder)


def change_value(job, change):
    (item,) = (item for item in job["inputs"] if item["socket"]["slug"] == "report")
    item["value"] = change(item["value"])


def test_json_files_do_not_tell_jobs_apart(tmp_path):
    folder, notes = written(tmp_path, phase_of({"inputs": [METADATA], "outputs": [RISK]}))
    note = notes[1]
    assert "input metadata is a JSON file: it tells jobs apart only if each was uploaded under" in note
    scored(folder)

    def edit(jobs):
        for job in jobs:
            job["inputs"][0]["file"] = "https://grand-challenge.org/media/1/metadata.json"

    edit_jobs(folder, edit)
    assert "found 'metadata.json', the name of the socket, which every job has" in faults_of(folder)[0]


def flagged(slug, path, example=None, **flags):
    """Return a socket as the platform's own generator has it today."""
    return {"slug": slug, "relative_path": path, "example_value": example, **flags}


JSON = {"is_json_kind": True}
TRANSFORM = {"3d_affine_transform": [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]}
VEGA = {"$schema": "https://vega.github.io/schema/vega-lite/v5.json", "data": {"values": []}, "layer": []}
ADDITIONAL = [
    flagged("score", "score.json", 42.0, **JSON),
    flagged("words", "words.json", "Some words", **JSON),
    flagged("rows", "table.csv", is_file_kind=True),
    flagged("performance", "figures/performance.json", VEGA, **JSON),
    flagged("everything", "everything.json", {"key": "value"}, **JSON),
    flagged("page", "page.pdf", is_file_kind=True),
    flagged("table", "table.json", {"rows": []}, **JSON),
]


def test_additional_outputs_are_written_to_their_place(tmp_path):
    content = phase_of({"inputs": [CT], "outputs": [RISK]}, outputs=ADDITIONAL)
    folder, notes = written(tmp_path, content)
    told = (
        "additional output table gets metrics.json: if it has a schema, ask the platform's support to detach"
    )
    assert told in notes[1]
    scored(folder)
    output = tmp_path / "output"
    places = {"--ground-truth": folder / "phase", "--input": folder / "submission", "--output": output}
    arguments = ["evaluate", "--workers", "0", *(str(part) for item in places.items() for part in item)]
    assert main(arguments) == 0
    files = {path.relative_to(output).as_posix() for path in output.rglob("*") if path.is_file()}
    whole = {"metrics.json", "everything.json", "table.json"}
    assert files == {*whole, "figures/performance.json", "page.pdf", "score.json", "words.json", "table.csv"}
    auc = json.loads((output / "metrics.json").read_bytes())["aggregates"]["all"]["risk_auc"]["value"]
    assert json.loads((output / "score.json").read_bytes()) == auc
    assert json.loads((output / "words.json").read_bytes()) == f"all.risk_auc {auc}"
    with (output / "table.csv").open(encoding="utf-8", newline="") as file:
        assert [(row["task"], row["metric"], float(row["value"])) for row in csv.DictReader(file)] == [
            ("all", "risk_auc", auc)
        ]
    assert len({(output / name).read_bytes() for name in whole}) == 1
    chart = json.loads((output / "figures" / "performance.json").read_text(encoding="utf-8"))
    assert chart["$schema"] == "https://vega.github.io/schema/vega-lite/v5.json"
    page = (output / "page.pdf").read_bytes()
    assert page.startswith(b"%PDF-")
    assert b"/Count 1" in page


# The shape of DEFAULT_PHASE_CONTEXT_STUB of the platform (app/tests/forge_tests/utils.py).
PANIMG = {"is_image_kind": True, "is_panimg_kind": True}
JSON_FILE = {"is_file_kind": True, "is_json_kind": True}


def sockets_of_every_flag(name):
    return [
        flagged(name, f"images/{name}", **PANIMG),
        flagged(f"another-{name}", f"another-{name}.json", {"key": "value"}, **JSON_FILE),
        flagged(f"non-json-{name}", f"non-json-{name}", is_file_kind=True),
        flagged(f"dicom-{name}", f"images/dicom-{name}", is_image_kind=True, is_dicom_image_kind=True),
    ]


def test_the_default_of_the_platforms_generator(tmp_path):
    default = phase_of(
        {"inputs": sockets_of_every_flag("input"), "outputs": sockets_of_every_flag("output")},
        {"inputs": sockets_of_every_flag("input-2")[:1], "outputs": sockets_of_every_flag("output-2")[:1]},
        inputs=[flagged("additional-input", "images/additional", **PANIMG)],
    )
    folder, notes = written(tmp_path, default)
    assert [note.partition(": ")[2].partition(":")[0] for note in notes] == [
        "the evaluation's input additional-input (Image) is not used",
        "output output (Image) is declared as a segmentation",
        "output another-output (Anything) is declared as a number from 0 to 1",
        "gap",
        "gap",
        "output output-2 (Image) is declared as a segmentation",
    ]
    result = scored(folder)
    assert {task: list(found) for task, found in result["aggregates"].items()} == {
        "input": ["output_dice", "another_output_auc"],
        "input_2": ["output_2_dice"],
    }


EXAMPLES = [
    (TRANSFORM, None),
    (["Choice 1", "Choice 2"], "flags"),
    (VEGA, None),
    ({"type": "Angle", "lines": []}, None),
    ({"type": "tumour"}, None),
    ({"type": "Multiple points", "points": []}, "points"),
    ({"volume_ml": 3.5}, None),
    ({"benign": 0.7, "malignant": 0.3}, "class_probabilities"),
    ({"cyst": 0.7, "tumour": 0.7}, "presence_probabilities"),
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
        tmp_path, phase_of({"inputs": [CT], "outputs": [output for output, _ in outputs.values()]})
    )
    found = {field["socket"]: field["kind"] for field in toml_of(folder)["fields"].values()}
    assert found == {slug: kind for slug, (_, kind) in outputs.items() if kind}
    assert sum("is not scored" in note for note in notes) == sum(kind is None for _, kind in EXAMPLES)


QUANTITIES = [
    ("lesion-volume-ml", 153.2, (0, 1000)),
    ("lesion-volume-ml", None, (0, 1000)),
    ("temperature-difference", -3.5, (-10, 10)),
    ("malignancy", 7.5, (0, 100)),
]


@pytest.mark.parametrize(("slug", "example", "bounds"), QUANTITIES)
def test_a_quantity_is_no_likelihood(tmp_path, slug, example, bounds):
    output = {**socket(slug, "Float", super_kind="Value"), "example_value": example}
    folder, notes = written(tmp_path, phase_of({"inputs": [CT], "outputs": [output]}))
    (field,) = toml_of(folder)["fields"].values()
    assert (field["minimum"], field["maximum"]) == bounds
    source = "its name" if example is None else f"its example {example}"
    guess = f"a quantity from {bounds[0]} to {bounds[1]}, guessed from {source}"
    assert notes == (
        f"phase final-test: output {slug} (Float) is declared as {guess}: correct it if it is not",
    )
    assert "mean_absolute_error" in next(iter(scored(folder)["aggregates"]["all"]))


def test_an_output_of_an_evaluation_that_nobody_can_write_is_a_gap(tmp_path):
    output = output_of("Image")
    folder, notes = written(tmp_path, phase_of({"inputs": [CT], "outputs": [SCORE_MR]}, outputs=[output]))
    (note,) = notes
    assert "gap: additional output out-image (Image): nothing can be written there" in note
    assert "ask the platform's support to detach it" in note
    assert toml_of(folder)["outputs"] == {}


FAULTS = {
    "no output": (
        phase_of({"inputs": [CT], "outputs": []}),
        "expected an output that a kind of field is like, found none",
    ),
    "no output with a kind here": (
        phase_of({"inputs": [CT], "outputs": [output_of("Line")]}),
        "found out-line (Line)",
    ),
    "no input": (phase_of({"inputs": [], "outputs": [RISK]}), "algorithm_interfaces.0.inputs"),
    "a path that leads out": (
        phase_of({"inputs": [CT], "outputs": [socket("risk", "Float", "../risk.json")]}),
        "outputs.0.relative_path: ",
    ),
}


@pytest.mark.parametrize("case", FAULTS)
def test_faults_of_a_phase(tmp_path, case):
    content, expected = FAULTS[case]
    with pytest.raises(PhaseError) as error:
        written(tmp_path, content)
    assert expected in error.value.problems[0]
    assert not (tmp_path / "repositories").exists()
