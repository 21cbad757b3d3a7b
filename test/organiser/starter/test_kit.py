"""Repositories from starter kits as the platform makes them, today and with its old generator."""

import json
import zipfile

import pytest
import yaml
from grand_challenge_forge import forge

from evaluation.cli.main import main
from evaluation.core.fault import PhaseError
from evaluation.organiser.starter.forge import write_from_kits
from test.organiser.starter.test_forge import (
    CT,
    MR,
    SCORE_CT,
    SCORE_MR,
    VEGA,
    flagged,
    scored,
    socket,
    toml_of,
)

# Calls of the program of a kit, as its template has them after black.
PROGRAM = """
INPUT_DIRECTORY = Path("/input")
OUTPUT_DIRECTORY = Path("/output")

def main():
    predictions = load_json_file(location=INPUT_DIRECTORY / "predictions.json")
    write_metrics(metrics=metrics)
    output_score_chart = {chart!r}
    output_summary_page = "content: should match the required format"
    write_json_file(
        location=OUTPUT_DIRECTORY / "score-chart.json", content=output_score_chart
    )
    write_file(
        location=OUTPUT_DIRECTORY / "summary-page.pdf", content=output_summary_page
    )

def process(job):
    submission_threshold = load_json_file(
        location=INPUT_DIRECTORY / "threshold.json",
    )
    return handler(job, submission_threshold)

def write_metrics(*, metrics):
    write_json_file(location=OUTPUT_DIRECTORY / "metrics.json", content=metrics)
"""
IMAGE, JSON, FILE = (
    {f"is_{other}_kind": other == kind for other in ("image", "json", "file")}
    for kind in ("image", "json", "file")
)


def kit(path, *interfaces, slug="test-phase", key="socket", top="{slug}/"):
    """Write a kit, whose jobs have no values here: nothing asks for them."""
    jobs = [
        {
            "pk": f"00000000-0000-4000-8000-{number:012d}",
            "inputs": [{key: socket, "value": None} for socket in inputs],
            "outputs": [{key: socket, "value": None} for socket in outputs],
            "status": "Succeeded",
        }
        for number, (inputs, outputs) in enumerate(interfaces * 3)
    ]
    method = f"{top.format(slug=slug)}example_evaluation_method"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{top.format(slug=slug)}README.md", "# Pack\n")
        archive.writestr(f"{method}/test/input/predictions.json", json.dumps(jobs, indent=4))
        archive.writestr(f"{method}/evaluate.py", PROGRAM.format(chart=VEGA))
    return path


SCAN = flagged("scan", "images/scan", **IMAGE)
CLIP = flagged("clip", "clip.mp4", **FILE)
RISK = flagged("risk", "risk.json", 42.0, **JSON)
LESIONS = flagged("lesions", "lesions.json", {"type": "Multiple points", "points": []}, **JSON)


@pytest.mark.parametrize(
    ("key", "top"), [("socket", "{slug}/"), ("interface", "pack/{slug}/"), ("socket", "")]
)
def test_a_kit_is_a_phase_whose_interfaces_are_told_by_their_inputs(tmp_path, key, top):
    interfaces = ([SCAN], [RISK, LESIONS]), ([CLIP], [RISK])
    path = kit(tmp_path / "test-phase.zip", *interfaces, key=key, top=top)
    found = write_from_kits(tmp_path / "new", path)
    assert found.folders == (tmp_path / "new" / "test-phase",)
    (folder,) = found.folders
    config = toml_of(folder)
    assert {name: field["kind"] for name, field in config["fields"].items()} == {
        "risk": "number",
        "lesions": "points",
    }
    assert set(config["interfaces"]) == {"scan", "clip"}
    assert config["outputs"] == {"score-chart.json": "chart-metrics", "summary-page.pdf": "pdf"}
    assert found.notes == (
        "phase test-phase: the evaluation's input threshold (Anything) is not used",
        "phase test-phase: output risk (Float) is declared as a likelihood from 0 to 1: "
        "correct it if it is not",
    )
    scored(folder)


def test_the_list_of_jobs_alone(tmp_path):
    with zipfile.ZipFile(kit(tmp_path / "kit.zip", ([SCAN], [RISK]))) as archive:
        archive.extractall(tmp_path)
    jobs = tmp_path / "test-phase" / "example_evaluation_method" / "test" / "input" / "predictions.json"
    for name, outputs in (("test-phase", {"score-chart.json", "summary-page.pdf"}), ("phase", set())):
        (folder,) = write_from_kits(tmp_path / f"of {name}", jobs).folders
        assert folder.name == name
        assert set(toml_of(folder).get("outputs", ())) == outputs
        jobs = jobs.rename(tmp_path / "predictions.json")


def test_several_kits_are_one_repository(tmp_path, capsys):
    kits = [kit(tmp_path / f"{slug}.zip", ([SCAN], [RISK]), slug=slug) for slug in ("debug", "final")]
    assert main(["new", str(tmp_path / "new"), "--from", *map(str, kits)]) == 0
    folder = tmp_path / "new"
    assert capsys.readouterr().out == f"{folder / 'debug'}\n{folder / 'final'}\n"
    assert {path.name for path in folder.iterdir()} == {"README.md", ".github", "debug", "final"}
    job = yaml.safe_load((folder / ".github" / "workflows" / "evaluate.yml").read_text(encoding="utf-8"))
    job = job["jobs"]["evaluate"]
    assert job["strategy"]["matrix"]["phase"] == ["debug", "final"]
    assert job["defaults"]["run"]["working-directory"] == "${{ matrix.phase }}"
    assert "(final/README.md)" in (folder / "README.md").read_text(encoding="utf-8")
    for name in ("debug", "final"):
        assert main(["seal", str(folder / name / "phase")]) == 0


JOBS = "p/example_evaluation_method/test/input/predictions.json"


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (
            {"p/example_algorithm/app.py": ""},
            "expected example_evaluation_method/test/input/predictions.json",
        ),
        ({JOBS: "{}"}, "expected the jobs of a starter kit"),
        ({JOBS: '[{"inputs": []}]'}, "expected the jobs of a starter kit: no 'outputs'"),
        ({JOBS: "[\n1"}, f"kit.zip/{JOBS}, line 2: expected JSON"),
        ({JOBS: "[]"}, "expected an output that a kind of field is like, found none"),
        ({JOBS: '[{"inputs": [{"socket": {"a": 1}}], "outputs": []}]'}, "no 'slug'"),
        (
            {JOBS: "[]", "p/example_evaluation_method/evaluate.py": "def main(:"},
            "evaluate.py of the starter kit: expected the program as it was downloaded",
        ),
    ],
)
def test_faults_of_a_kit(tmp_path, names, expected):
    with zipfile.ZipFile(tmp_path / "kit.zip", "w") as archive:
        for name, content in names.items():
            archive.writestr(name, content)
    with pytest.raises(PhaseError) as error:
        write_from_kits(tmp_path / "new", tmp_path / "kit.zip")
    assert expected in error.value.problems[0]
    assert not (tmp_path / "new").exists()


def test_the_zip_of_the_platforms_old_generator(tmp_path):
    phase = {
        "slug": "final-test",
        "archive": {"slug": "a", "url": "https://grand-challenge.org/archives/a/"},
        "algorithm_interfaces": [
            {"inputs": [CT], "outputs": [SCORE_CT]},
            {"inputs": [MR], "outputs": [{**SCORE_MR, "super_kind": "Value"}]},
        ],
        "evaluation_additional_inputs": [],
        "evaluation_additional_outputs": [socket("page", "PDF file", "page.pdf")],
    }
    challenge = {"slug": "c", "url": "https://c.grand-challenge.org", "phases": [phase]}
    context = {"challenge": {**challenge, "archives": [phase["archive"]]}}
    with zipfile.ZipFile(tmp_path / "kit.zip", "w") as archive:
        forge.generate_challenge_pack(
            output_zip_file=archive, target_zpath=tmp_path.relative_to("/"), context=context
        )
    (folder,) = write_from_kits(tmp_path / "new", tmp_path / "kit.zip").folders
    assert set(toml_of(folder)["interfaces"]) == {"thorax_ct", "brain_mr"}
    assert toml_of(folder)["outputs"] == {"page.pdf": "pdf"}
    scored(folder)
