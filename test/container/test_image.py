"""Facts about the image: platform, user, labels, size, what is in it and what is not."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess

import pytest

from evaluation import __version__

from .engine import (
    GROUND_TRUTH,
    HARDENED,
    REPOSITORY,
    docker,
    evaluate,
    inside,
    sealed_reference,
    submission_of,
)

pytestmark = pytest.mark.container

LARGEST = 215_000_000  # bytes, compressed


@pytest.fixture(scope="module")
def facts(image: str) -> dict:
    return json.loads(docker("image", "inspect", image).stdout)[0]


def test_platform(facts):
    assert (facts["Os"], facts["Architecture"]) == ("linux", "amd64")


def test_the_platform_accepts_the_user(facts):
    user = facts["Config"]["User"]
    assert user
    assert user.split(":")[0] not in ("root", "0")


def test_the_user_has_an_entry_and_a_home_outside_tmp(image):
    code = """if True:
        import json, os, pathlib, pwd
        entry = pwd.getpwuid(os.getuid())
        home = pathlib.Path.home()
        print(json.dumps([os.getuid(), entry.pw_dir, str(home), home.is_dir() and os.access(home, os.R_OK)]))
    """
    uid, home, from_environment, usable = json.loads(inside(image, code, *HARDENED))
    assert uid != 0
    assert home == from_environment
    assert usable
    assert not home.startswith(("/tmp", "/input", "/output", "/opt/ml"))


def test_results_can_be_written_where_nothing_is_mounted(image):
    code = """if True:
        import os
        for path in ("/input", "/output"):
            print(path, os.stat(path).st_uid, oct(os.stat(path).st_mode & 0o7777))
    """
    assert inside(image, code).splitlines() == ["/input 0 0o755", "/output 1000 0o777"]


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


def test_entrypoint_needs_no_argument(facts):
    assert facts["Config"]["Entrypoint"][1:] == ["-m", "evaluation"]
    assert not facts["Config"]["Cmd"]


def test_no_setting_of_ours_is_stripped_by_the_platform(facts):
    assert not [name for name in facts["Config"]["Env"] if name.upper().startswith("GRAND_CHALLENGE_")]


# Listed as root, who sees every folder.
LIST_OF_FILES = """if True:
    import os
    for folder, folders, files in os.walk("/"):
        if folder == "/":
            folders[:] = [name for name in folders if name not in ("proc", "sys", "dev")]
        for name in files:
            print(os.path.join(folder, name))
"""


@pytest.fixture(scope="module")
def files(image: str) -> list[str]:
    return inside(image, LIST_OF_FILES, "--user=0").splitlines()


def test_the_image_has_no_code_for_organisers(image, files):
    package = [path for path in files if path.startswith("/opt/evaluation/evaluation/")]
    assert "/opt/evaluation/evaluation/evaluate.py" in package
    assert [path for path in package if "/organiser/" in path] == []
    code = "import importlib.util; print(importlib.util.find_spec('evaluation.organiser'))"
    assert inside(image, code) == "None\n"


def test_commands_for_participants_need_no_code_for_organisers(image, tmp_path):
    tmp_path.chmod(0o755)
    submission = submission_of("refuge-onsite", tmp_path)
    results = tmp_path / "results"
    results.mkdir()
    (results / "metrics.json").write_bytes(evaluate(image, submission, *HARDENED).metrics)
    script = """set -e
    python -m evaluation form ground-truth --output /tmp/form.json
    python -m evaluation check --form /tmp/form.json /input
    python -m evaluation check /input
    python -m evaluation summary /results/metrics.json
    """
    done = docker(
        *("run", "--rm", *HARDENED, "--entrypoint=sh"),
        f"--mount=type=bind,source={submission},target=/input,readonly",
        f"--mount=type=bind,source={results},target=/results,readonly",
        *(image, "-c", script),
    )
    assert done.stderr == ""
    assert done.stdout.count("No faults: /input is a submission to refuge-onsite\n") == 2
    assert "\nrefuge-onsite: 40 of 40 cases scored" in done.stdout


@pytest.mark.parametrize("arguments", [("seal", "ground-truth"), ("rehearse", "ground-truth")])
def test_a_command_for_organisers_says_where_it_is(image, arguments):
    done = docker("run", "--rm", *HARDENED, image, *arguments, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"{arguments[0]} is an organiser's command; this image has none of them. "
        f"Use the installed package, challenge-evaluation {__version__}\n"
    )


def test_no_program_runs_with_the_rights_of_another_user(image):
    code = """if True:
        import os
        for folder, folders, files in os.walk("/"):
            if folder == "/":
                folders[:] = [name for name in folders if name not in ("proc", "sys", "dev")]
            for path in (os.path.join(folder, name) for name in files):
                if os.lstat(path).st_mode & 0o6000:
                    print(path)
    """
    assert inside(image, code, "--user=0") == ""


def test_neither_compiler_nor_installer_is_left(files):
    tools = {
        "gcc",
        "g++",
        "cc",
        "c++",
        "clang",
        "ld",
        "as",
        "make",
        "cmake",
        "pip",
        "pip3",
        "easy_install",
        "uv",
    }
    assert [path for path in files if "/bin/" in path and path.rsplit("/", 1)[1] in tools] == []
    modules = ("/pip/", "/ensurepip/", "/setuptools/", "/Cython/")
    assert [path for path in files if any(module in path for module in modules)] == []
    assert [path for path in files if path.endswith(".whl")] == []


def test_no_cache_is_left(files):
    caches = ("/root/.cache/", "/home/evaluation/.cache/", "/var/cache/", "/var/lib/apt/lists/", "/tmp/")
    assert [path for path in files if path.startswith(caches)] == []


def test_no_tests_of_packages_are_left(files):
    packages = [path for path in files if "/site-packages/" in path]
    assert packages
    assert [path for path in packages if "/tests/" in path] == []


def test_byte_code_is_there_for_what_an_evaluation_imports(image):
    # "-v" names the file that each module's code was read from: a source file was compiled just now
    finished = docker(
        "run",
        "--rm",
        *HARDENED,
        "--entrypoint=python",
        image,
        "-v",
        "-c",
        "import numpy, pydantic, evaluation",
    )
    read = [line for line in finished.stderr.splitlines() if line.startswith("# code object from ")]
    assert len(read) > 100
    assert [line for line in read if line.endswith(".py'")] == []


def test_the_user_cannot_change_the_evaluation_or_the_reference(image):
    code = """if True:
        import os
        for folder, folders, files in os.walk("/opt/evaluation"):
            for path in [folder, *(os.path.join(folder, name) for name in files)]:
                if os.access(path, os.W_OK) or not os.access(path, os.R_OK):
                    print(path)
    """
    assert inside(image, code) == ""


def test_the_reference_is_that_of_the_phase_and_sealed(image):
    names = inside(image, f"import os; print(*sorted(os.listdir('{GROUND_TRUTH}')))").split()
    assert {"manifest.json", "phase.toml", "cases.csv"} <= set(names)


@pytest.mark.parametrize(
    "modules",
    [
        "numpy, numpy.testing, numpy.random, numpy.linalg",
        "scipy.stats, scipy.ndimage, scipy.optimize, scipy.spatial",
        "sklearn.metrics, sklearn.isotonic, grand_challenge_metrics",
        "pandas, pandas.testing",
        "SimpleITK, PIL.Image",
        "pydantic, rich.table, rich.progress",
    ],
)
def test_every_package_still_imports(image, modules):
    # in a process per line, without a warning and without a place to write
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


def test_no_file_has_the_time_of_its_build(image):
    """Layers are equal only if the times in them are; older files are those of the base image."""
    code = """if True:
        import os
        roots = ("/home", "/input", "/opt", "/output", "/tmp", "/usr", "/var")
        paths = [os.path.join(place, name) for root in roots for place, folders, names in os.walk(root)
                 for name in (*folders, *names)] + list(roots)
        print(max(int(os.lstat(path).st_mtime) for path in paths))
    """
    assert inside(image, code, "--user=0").strip() == "1735689600"


def test_the_base_image_is_recorded(facts):
    labels = facts["Config"]["Labels"]
    assert labels["org.opencontainers.image.base.name"] == "python:3.13-slim-trixie"
    assert labels["org.opencontainers.image.base.digest"].startswith("sha256:")


@pytest.mark.skipif(
    not os.environ.get("EVALUATION_REBUILD"), reason="EVALUATION_REBUILD=1 builds twice: minutes"
)
def test_two_builds_have_equal_layers(image):
    def layers():
        return json.loads(docker("image", "inspect", image).stdout)[0]["RootFS"]["Layers"]

    before = layers()
    subprocess.run([REPOSITORY / "build.sh", "refuge-onsite", "--no-cache"], check=True, timeout=1800)
    assert layers() == before
