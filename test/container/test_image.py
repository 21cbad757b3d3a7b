"""Facts about the image: platform, user, labels, size, what is in it and what is not."""

from __future__ import annotations

import hashlib
import json
import re

import pytest

from evaluation import __version__

from .engine import HARDENED, docker, inside, sealed_reference

pytestmark = pytest.mark.container

LARGEST = 215_000_000  # bytes, compressed


@pytest.fixture(scope="module")
def facts(image: str) -> dict:
    return json.loads(docker("image", "inspect", image).stdout)[0]


def test_what_the_platform_expects_of_an_image(facts):
    assert (facts["Os"], facts["Architecture"]) == ("linux", "amd64")
    config = facts["Config"]
    assert config["User"].split(":")[0] not in ("", "root", "0")
    assert config["Entrypoint"][1:] == ["-m", "evaluation"]
    assert not config["Cmd"]  # no argument is needed
    # It strips such settings.
    assert not [name for name in config["Env"] if name.upper().startswith("GRAND_CHALLENGE_")]


# A container takes longer to start than to look around in: one looks as the image's user, one as root.
AS_USER = """if True:
    import json, os, pathlib, pwd
    home = pathlib.Path.home()
    package = [path for folder, _, names in os.walk("/opt/evaluation")
               for path in (folder, *(os.path.join(folder, name) for name in names))]
    print(json.dumps({
        "uid": os.getuid(),
        "homes": [pwd.getpwuid(os.getuid()).pw_dir, str(home)],
        "home_is_usable": home.is_dir() and os.access(home, os.R_OK),
        "mounts": [[path, os.stat(path).st_uid, oct(os.stat(path).st_mode & 0o7777)]
                   for path in ("/input", "/output")],
        "changeable": [path for path in package if os.access(path, os.W_OK)],
        "unreadable": [path for path in package if not os.access(path, os.R_OK)],
        "reference": sorted(os.listdir("/opt/evaluation/ground-truth")),
    }))
"""

# Root sees every folder.
AS_ROOT = """if True:
    import json, os
    files, privileged, times = [], [], []
    for folder, folders, names in os.walk("/"):
        if folder == "/":
            folders[:] = [name for name in folders if name not in ("proc", "sys", "dev")]
        for name in (*folders, *names):
            status = os.lstat(os.path.join(folder, name))
            path = os.path.join(folder, name)
            if path.startswith(("/home", "/input", "/opt", "/output", "/tmp", "/usr", "/var")):
                times.append(int(status.st_mtime))
        files += [os.path.join(folder, name) for name in names]
    privileged = [path for path in files if os.lstat(path).st_mode & 0o6000]
    print(json.dumps({"files": files, "privileged": privileged, "newest": max(times)}))
"""


@pytest.fixture(scope="module")
def seen_by_user(image: str) -> dict:
    return json.loads(inside(image, AS_USER))


@pytest.fixture(scope="module")
def seen_by_root(image: str) -> dict:
    return json.loads(inside(image, AS_ROOT, "--user=0"))


@pytest.fixture(scope="module")
def files(seen_by_root: dict) -> list[str]:
    return seen_by_root["files"]


def test_the_user_has_a_home_outside_tmp_and_may_write_results(seen_by_user):
    assert seen_by_user["uid"] != 0
    home, from_environment = seen_by_user["homes"]
    assert home == from_environment
    assert seen_by_user["home_is_usable"]
    assert not home.startswith(("/tmp", "/input", "/output", "/opt/ml"))
    assert seen_by_user["mounts"] == [["/input", 0, "0o755"], ["/output", 1000, "0o777"]]


def test_labels(image, facts):
    with sealed_reference(image) as reference:
        digest = hashlib.sha256((reference / "manifest.json").read_bytes()).hexdigest()
    labels = facts["Config"]["Labels"]
    assert labels["org.opencontainers.image.version"] == __version__
    assert labels["org.opencontainers.image.licenses"] == "Apache-2.0"
    assert labels["org.grand-challenge.evaluation.phase"] == "refuge-onsite"
    assert labels["org.grand-challenge.evaluation.manifest"] == f"sha256:{digest}"
    # with "invoke" the platform would not start the container for a submission but speak HTTP to it
    assert labels["org.grand-challenge.api-method"] == "exec"
    assert labels["org.opencontainers.image.base.name"] == "python:3.13-slim-trixie"
    assert labels["org.opencontainers.image.base.digest"].startswith("sha256:")


def test_no_file_has_the_rights_of_another_user_or_the_time_of_its_build(seen_by_root):
    """Layers are equal only if the times in them are; older files are those of the base image."""
    assert seen_by_root["privileged"] == []
    assert seen_by_root["newest"] == 1735689600


UNUSED = (
    r"/bin/(gcc|g\+\+|cc|c\+\+|clang|ld|as|make|cmake|pip3?|easy_install|uv|perl.*)$",
    r"/(pip|ensurepip|setuptools|Cython|pydoc_data|perl-base)/|\.whl$",
    r"/lib/python3\.\d+/(.*/)?tests?/",
    r"^(/root/\.cache|/home/evaluation/\.cache|/var/cache|/var/lib/apt/lists|/tmp)/",
)


def test_no_compiler_installer_cache_test_or_other_language_is_left(files):
    assert any("/site-packages/" in path for path in files)
    assert [path for path in files if re.search("|".join(UNUSED), path)] == []


def test_byte_code_is_there_for_what_an_evaluation_imports(image):
    # "-v" names the file that each module's code was read from: a source file was compiled just now
    program = ("--entrypoint=python", image, "-v", "-c", "import numpy, pydantic, evaluation")
    finished = docker("run", "--rm", *HARDENED, *program)
    read = [line for line in finished.stderr.splitlines() if line.startswith("# code object from ")]
    assert len(read) > 100
    assert [line for line in read if line.endswith(".py'")] == []


def test_the_reference_is_sealed_and_the_user_can_change_neither_it_nor_the_evaluation(seen_by_user):
    assert seen_by_user["changeable"] == seen_by_user["unreadable"] == []
    assert {"manifest.json", "phase.toml", "cases.csv"} <= set(seen_by_user["reference"])


def test_every_package_imports_without_a_warning_and_a_place_to_write(image):
    modules = (
        "numpy.testing, numpy.random, numpy.linalg, scipy.stats, scipy.ndimage, scipy.optimize, "
        "scipy.spatial, sklearn.metrics, sklearn.isotonic, grand_challenge_metrics, pandas, pandas.testing, "
        "SimpleITK, PIL.Image, pydantic, rich.table, rich.progress"
    )
    assert inside(image, f"import {modules}; print('imported')", *HARDENED) == "imported\n"


def test_a_submission_cannot_shadow_a_module(image, tmp_path):
    tmp_path.chmod(0o755)
    (tmp_path / "numpy.py").write_text("raise SystemExit('shadowed')")
    (tmp_path / "evaluation.py").write_text("raise SystemExit('shadowed')")
    mounted = f"--mount=type=bind,source={tmp_path},target=/input,readonly"
    code = "import numpy, evaluation; print('own modules')"
    assert inside(image, code, mounted, "--workdir=/input") == "own modules\n"


def test_compressed_size(image, exported):
    # compressed at level 2, which is an upper bound for the default of export
    size = (exported / f"{image}.tar.gz").stat().st_size
    assert 50_000_000 < size <= LARGEST
