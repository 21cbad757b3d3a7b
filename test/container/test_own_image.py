"""The image of a phase in a folder of one's own: its layers, its labels alone, its challenge."""

from __future__ import annotations

import json
import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from zlib_ng import gzip_ng

from evaluation.organiser.image.build import Recipe, build_image
from evaluation.phase.manifest import list_phase
from test.conftest import images_without_phase
from test.phase.test_home import CHALLENGE, submission, write_phase

from .engine import HARDENED, REPOSITORY, docker

pytestmark = pytest.mark.container

PACKAGE = "iniconfig==2.1.0 --hash=sha256:9deba5723312380e77435581c6bf4935c94cbfab9b1ed33ef8d238ea168eb760\n"


@pytest.fixture(scope="module")
def own_image(engine: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the image of a challenge one folder above its phase, with a package of its own."""
    folder = tmp_path_factory.mktemp("phases")
    phase = write_phase(folder / "one")
    (folder / "challenge.py").write_text(f"import iniconfig\n{CHALLENGE}", encoding="utf-8")
    (folder / "requirements.txt").write_text(PACKAGE, encoding="utf-8")
    image = build_image(phase, Recipe(), print).name
    yield image
    docker("image", "rm", "--force", image, check=False)


@pytest.fixture(scope="module")
def members_of_layers(exported: Path, tmp_path_factory: pytest.TempPathFactory) -> list[list[str]]:
    """Return the paths of the files of every layer of an image, also of those that a later layer hides."""
    (path,) = exported.glob("evaluation-*.tar.gz")
    saved = tmp_path_factory.mktemp("saved") / "image.tar"
    with gzip_ng.open(path) as compressed, saved.open("wb") as file:
        shutil.copyfileobj(compressed, file, 1 << 20)
    with tarfile.open(saved) as outer:
        layers = json.load(outer.extractfile("manifest.json"))[0]["Layers"]
        found = []
        for layer in layers:
            with tarfile.open(fileobj=outer.extractfile(layer)) as inner:
                found.append([member.name for member in inner if member.isfile()])
    saved.unlink()
    return found


def layers_of(image: str) -> list[str]:
    return json.loads(docker("image", "inspect", image).stdout)[0]["RootFS"]["Layers"]


def test_all_images_have_the_layers_of_the_package(tmp_path_factory, own_image, image, members_of_layers):
    (base,) = (name for name in images_without_phase(tmp_path_factory) if name.startswith("evaluation-base"))
    of_base = layers_of(base)
    assert layers_of(own_image)[: len(of_base)] == layers_of(image)[: len(of_base)] == of_base
    assert len(members_of_layers) > len(of_base)
    names = [name for layer in members_of_layers[: len(of_base)] for name in layer]
    assert "opt/evaluation/evaluation/__main__.py" in names
    assert not [name for name in names if "ground-truth" in name]


def test_no_image_has_code_for_organisers(members_of_layers):
    names = {name for layer in members_of_layers for name in layer}
    assert "opt/evaluation/evaluation/evaluate.py" in names
    assert not [name for name in names if "organiser/" in name]


def test_an_image_holds_the_labels_of_its_own_phase_alone(members_of_layers, image):
    found = {name for layer in members_of_layers for name in layer if "ground-truth" in name}
    phase = REPOSITORY / "ground-truth" / image.removeprefix("evaluation-")
    assert found == {f"opt/evaluation/ground-truth/{name}" for name in (*list_phase(phase), "manifest.json")}


def test_a_challenge_that_is_programmed_one_folder_up_is_baked_in_with_its_package(own_image, tmp_path):
    output = tmp_path / "output"
    output.mkdir()
    output.chmod(0o777)
    given = submission(tmp_path / "submission")
    tmp_path.chmod(0o755)
    docker("run", "--rm", *HARDENED, f"--volume={given}:/input:ro", f"--volume={output}:/output", own_image)
    metrics = json.loads((output / "metrics.json").read_text(encoding="utf-8"))
    assert metrics["aggregates"]["age"]["error"]["value"] == 2.0
    assert metrics["phase"]["source"] == "image"
