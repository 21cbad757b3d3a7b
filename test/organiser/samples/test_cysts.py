import pytest

from evaluation.cli.main import main
from evaluation.evaluate import Result, evaluate
from evaluation.phase.manifest import scan, seal
from evaluation.phase.phase import load_phase


def files_of(folder):
    paths = (path for path in folder.rglob("*") if path.is_file() and path.name != "manifest.json")
    return {path.relative_to(folder): path.read_bytes() for path in paths}


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sample")
    for name in ("first", "again"):
        arguments = ["sample", "cysts", "--output", str(folder / name), "--cases", "8", "--scale", "0.1"]
        assert main(arguments) == 0
    return folder


def test_the_same_seed_gives_the_same_bytes(sample):
    first, again = files_of(sample / "first"), files_of(sample / "again")
    assert len(first) > 4 * 8
    assert first == again


def test_the_perfect_submission_has_the_best_pooled_dice(sample):
    folder = sample / "first" / "ground-truth" / "cysts-sample"
    seal(folder, scan(folder))
    result = evaluate(load_phase(folder), sample / "first" / "submissions" / "perfect", 0)
    assert isinstance(result, Result)
    pooled = [
        estimates["pooled_weighted_dice"].value
        for estimates in result.figures.aggregates.values()
        if "pooled_weighted_dice" in estimates
    ]
    assert pooled
    assert pooled == pytest.approx([1] * len(pooled))
