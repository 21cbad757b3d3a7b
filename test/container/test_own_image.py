"""The image of a phase in a folder of one's own: built, scored and exported, with its own labels alone."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluation.core.fault import PhaseError
from evaluation.organiser.starter.image import build_image, export_image
from evaluation.organiser.starter.repository import write_repository

from .engine import HARDENED, docker

pytestmark = pytest.mark.container


@pytest.fixture(scope="module")
def base(images_of_the_package: dict[str, str]) -> str:
    return images_of_the_package["base"]


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("own") / "own-lesions"
    write_repository(folder, "segmentation")
    return folder


@pytest.fixture(scope="module")
def own_image(base: str, repository: Path) -> Iterator[str]:
    image = build_image(repository, base)
    yield image
    docker("image", "rm", "--force", image, check=False)


@pytest.fixture(scope="module")
def written(own_image: str, repository: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Return the files that an export writes."""
    return export_image(repository, tmp_path_factory.mktemp("export"), own_image)


@pytest.fixture(scope="module")
def members_of_layers(written: list[Path]) -> list[list[str]]:
    """Return the paths of the files of every layer of the image, also of those that a later layer hides."""
    found = []
    saved = io.BytesIO(gzip.decompress(written[-1].read_bytes()))
    with tarfile.open(fileobj=saved) as outer:
        for layer in json.load(outer.extractfile("manifest.json"))[0]["Layers"]:
            data = outer.extractfile(layer).read()
            data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
            with tarfile.open(fileobj=io.BytesIO(data)) as inner:
                found.append([member.name for member in inner if member.isfile()])
    return found


def layers_of(image: str) -> list[str]:
    return json.loads(docker("image", "inspect", image).stdout)[0]["RootFS"]["Layers"]


def test_the_base_image_holds_no_phase(base, own_image, members_of_layers):
    of_base = layers_of(base)
    assert layers_of(own_image)[: len(of_base)] == of_base
    assert len(members_of_layers) > len(of_base)
    names = [name for layer in members_of_layers[: len(of_base)] for name in layer]
    assert "opt/evaluation/evaluation/__main__.py" in names
    assert not [name for name in names if "ground-truth" in name]


def test_only_the_builder_has_code_for_organisers(images_of_the_package, members_of_layers):
    program = (
        "import pathlib, evaluation.organiser; print(pathlib.Path('/opt/evaluation/ground-truth').exists())"
    )
    builder = images_of_the_package["builder"]
    found = docker("run", "--rm", "--network=none", "--entrypoint=python", builder, "-c", program).stdout
    assert found == "False\n"
    names = {name for layer in members_of_layers for name in layer}
    assert "opt/evaluation/evaluation/evaluate.py" in names
    assert not [name for name in names if "organiser/" in name]


def test_an_image_holds_the_labels_of_its_own_phase_alone(members_of_layers, repository):
    found = {name for layer in members_of_layers for name in layer if "ground-truth" in name}
    expected = {
        path.relative_to(repository / "phase").as_posix() for path in (repository / "phase").rglob("*.*")
    }
    expected = {name for name in expected if name not in (".nonce", "manifest.json")}
    assert found == {f"opt/evaluation/ground-truth/{name}" for name in (*expected, "manifest.json")}


def test_it_scores_a_submission_as_the_platform_runs_it(own_image, repository, tmp_path):
    output = tmp_path / "output"
    output.mkdir(mode=0o777)
    output.chmod(0o777)
    docker(
        "run", "--rm", *HARDENED,
        f"--volume={repository / 'submission'}:/input:ro", f"--volume={output}:/output", own_image,
    )  # fmt: skip
    metrics = json.loads((output / "metrics.json").read_text(encoding="utf-8"))
    assert metrics["phase"]["source"] == "image"
    assert metrics["cases"] == {"expected": 12, "scored": 12, "worst": 0}


def test_export_writes_what_goes_to_the_platform(written):
    assert [path.name for path in written] == [
        "settings.json",
        "form.json",
        "format.md",
        "ground-truth-own-lesions.tar.gz",
        "evaluation-own-lesions.tar.gz",
    ]
    settings, form, _, reference, image = written
    assert json.loads(settings.read_text())["score_jsonpath"] == "aggregates.segmentation.dice.value"
    assert len(json.loads(form.read_text())["form"]["cases"]) == 12
    with tarfile.open(reference) as archive:
        assert "manifest.json" in archive.getnames()
    assert image.read_bytes()[4:8] == bytes(4)  # no time, so that equal images give equal files


def test_a_challenge_that_is_programmed_one_folder_up_is_baked_in(base, tmp_path):
    from test.phase.test_home import CHALLENGE, submission, write_phase

    phase = write_phase(tmp_path / "phases" / "one")
    (tmp_path / "phases" / "challenge.py").write_text(CHALLENGE, encoding="utf-8")
    image = build_image(phase, base)
    try:
        output = tmp_path / "output"
        output.mkdir()
        output.chmod(0o777)
        given = submission(tmp_path / "submission")
        tmp_path.chmod(0o755)
        docker("run", "--rm", *HARDENED, f"--volume={given}:/input:ro", f"--volume={output}:/output", image)
        metrics = json.loads((output / "metrics.json").read_text(encoding="utf-8"))
        assert metrics["aggregates"]["age"]["error"]["value"] == 2.0
    finally:
        docker("image", "rm", "--force", image, check=False)


def test_what_is_missing_is_named(base, tmp_path):
    with pytest.raises(PhaseError, match=r"expected phase\.toml or phase/phase\.toml, found neither"):
        build_image(tmp_path, base)
    write_repository(tmp_path / "mine", "points")
    for images in (("nowhere:1", None), (None, "nowhere:1")):
        with pytest.raises(PhaseError, match="the base image nowhere:1 is not on this machine"):
            build_image(tmp_path / "mine", *images)


def test_a_fault_of_the_phase_ends_the_build(base, tmp_path):
    write_repository(tmp_path / "mine", "segmentation")
    (tmp_path / "mine" / "phase" / "labels" / "case01.png").unlink()
    with pytest.raises(PhaseError) as error:
        build_image(tmp_path / "mine", base)
    assert any("case01.png: is missing" in line for line in error.value.problems)
