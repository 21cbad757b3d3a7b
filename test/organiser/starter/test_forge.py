"""Phases from a Grand Challenge Forge pack; the pack follows the schema that the forge publishes."""

import json
import tomllib

import pytest

from evaluation.challenges.declared.rules import DeclaredOptions, declare
from evaluation.core.fault import PhaseError
from evaluation.organiser.starter.forge import write_from_pack
from evaluation.phase.config import PhaseConfig, moved_declaration
from evaluation.phase.validation import read_table


def socket(slug, kind, path=None, super_kind="File"):
    return {"slug": slug, "relative_path": path or f"{slug}.json", "kind": kind, "super_kind": super_kind}


CT = socket("thorax-ct", "Image", "images/thorax-ct", "Image")
FUNDUS = socket("fundus", "Image", "images/fundus", "Image")
AGE = socket("patient-age", "Integer", super_kind="Value")
RISK = socket("risk", "Float", super_kind="Value")


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
    file = tmp_path / "pack.json"
    file.write_text(json.dumps(content), encoding="utf-8")
    (folder,) = write_from_pack(tmp_path / "repositories", file)
    toml = tomllib.loads((folder / "phase" / "phase.toml").read_text(encoding="utf-8"))
    return folder, moved_declaration(toml, "phase.toml")


def test_sockets_become_fields(tmp_path):
    outputs = [RISK, socket("organs", "Segmentation", "images/organs", "Image")]
    folder, content = written(tmp_path, pack({"inputs": [AGE, CT], "outputs": outputs}))
    assert folder.name == "final-test"
    assert (folder / "Dockerfile").is_file()
    config = read_table(PhaseConfig, content)
    assert config.submission == "algorithm"
    assert config.input_sockets == ("thorax-ct",)
    challenge = declare(read_table(DeclaredOptions, config.options))
    (task,) = challenge.tasks(None)
    assert {field.name: (field.socket.slug, field.socket.file_name) for field in task.fields} == {
        "risk": ("risk", "risk.json"),
        "organs": ("organs", "images/organs"),
    }


def test_interfaces_of_one_phase_have_inputs_of_their_own(tmp_path):
    _, content = written(
        tmp_path, pack({"inputs": [CT], "outputs": [RISK]}, {"inputs": [FUNDUS, AGE], "outputs": [RISK]})
    )
    assert read_table(PhaseConfig, content).input_sockets == ("thorax-ct", "fundus")
    assert list(content["options"]["fields"]) == ["risk"]


@pytest.mark.parametrize(
    "kind",
    ["Float", "Integer", "Bool", "String", "Choice", "Anything", "Segmentation", "Image", "Point",
     "Multiple points", "Multiple 2D bounding boxes", "Heat Map", "A kind of the future"],
)  # fmt: skip
def test_every_kind_of_socket_gives_a_valid_declaration(tmp_path, kind):
    _, content = written(tmp_path, pack({"inputs": [CT], "outputs": [socket("out", kind)]}))
    challenge = declare(read_table(DeclaredOptions, content["options"]))
    assert challenge.components


FAULTS = {
    "no pack": ({"phases": []}, "pack.json: challenge is missing"),
    "no output": (pack({"inputs": [CT], "outputs": []}), "expected at least one output, found none"),
    "a name that leads out": (
        pack({"inputs": [CT], "outputs": [RISK]}, slug="../../etc"),
        "pack.json: challenge.phases.0.slug: ",
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
    with pytest.raises(PhaseError, match="cannot be read"):
        write_from_pack(tmp_path / "repositories", tmp_path / "pack.json")
