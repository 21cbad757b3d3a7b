"""A phase of a part of another one: rows, reference files, stacks and configuration."""

import csv
import tomllib
from collections import Counter
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import pytest

from evaluation.cli.main import main
from evaluation.core.fault import PhaseError
from evaluation.organiser.subset import apportion, draw, draw_part, write_subset
from evaluation.organiser.validate import validate_phase
from evaluation.phase.manifest import scan
from evaluation.phase.phase import load_phase
from test.faults import faulted
from test.phase.test_home import CHALLENGE as AT_HOME
from test.phase.test_home import nothing_is_loaded, write_phase
from test.phases import refuge_phase
from test.repository import REPOSITORY
from test.rooms import needs

__all__ = ["nothing_is_loaded"]
TENTH = Fraction(1, 10)


def bundled(name: str):
    folder = REPOSITORY / "ground-truth" / name
    return load_phase(folder, scan(folder))


def rows_of(folder: Path, file: str = "cases.csv"):
    with (folder / file).open(newline="", encoding="utf-8") as table:
        return list(csv.DictReader(table))


def test_a_tenth_of_the_eyes_with_the_same_prevalence(tmp_path):
    phase = bundled("justraigs-phase2")
    part = draw(phase, TENTH)
    # 498, 96 and 6 of 600 eyes.
    assert part.columns == ("final_label",)
    assert part.counts == {("NRG",): (50, 498), ("RG",): (10, 96), ("U",): (0, 6)}
    assert write_subset(phase, part, tmp_path / "part", "development", stack=25) == []
    rows = rows_of(tmp_path / "part")
    assert Counter(row["final_label"] for row in rows) == {"NRG": 50, "RG": 10}
    whole = {row["name"]: row for row in rows_of(phase.folder)}
    stacks = ("stack_name", "stack_index")
    for row in rows:
        assert {key: value for key, value in row.items() if key not in stacks} == {
            key: value for key, value in whole[row["name"]].items() if key not in stacks
        }
    # Stacks are filled in the order of the names, so that a place in them tells no label.
    assert [(row["stack_name"], int(row["stack_index"])) for row in rows] == [
        (f"development_{number // 25 + 1:04d}.tiff", number % 25) for number in range(60)
    ]
    assert [row["name"] for row in rows] == sorted(row["name"] for row in rows)
    assert len(validate_phase(tmp_path / "part", scan(tmp_path / "part"), 0).phase.rows) == 60


def test_strata_of_two_columns_one_of_them_cut_by_bins():
    phase = bundled("justraigs-phase2")
    part = draw(phase, TENTH, ("final_label", "age"))
    assert len(part.counts) == 9
    labels = Counter(phase.rows[i].cells["final_label"] for i in part.positions)
    assert labels == {"NRG": 50, "RG": 10}
    for label in ("NRG", "RG"):
        drawn, all_cases = part.counts[label, "below_50"]
        quota = Fraction(labels[label] * all_cases, {"NRG": 498, "RG": 96}[label])
        assert abs(drawn - quota) < 1
        cells = [phase.rows[i].cells for i in part.positions]
        assert sum(one["final_label"] == label and float(one["age"]) < 50 for one in cells) == drawn


def test_masks_follow_their_cases_and_the_board_of_all_cases_does_not(tmp_path):
    phase = bundled("refuge-onsite")
    part = draw(phase, Fraction(1, 4), seed=5)
    assert part.columns == ("glaucoma",)
    assert write_subset(phase, part, tmp_path / "part", "part", 'A "tenth"') == ["leaderboard.csv"]
    before, after = (
        tomllib.loads((folder / "phase.toml").read_text()) for folder in (phase.folder, tmp_path / "part")
    )
    assert after == before | {"name": "part", "title": 'A "tenth"'}
    names = {row["name"] for row in rows_of(tmp_path / "part")}
    assert {path.stem for path in (tmp_path / "part" / "masks").iterdir()} == names
    assert len(names) == 10
    for name in names:
        copied = tmp_path / "part" / "masks" / f"{name}.png"
        assert copied.read_bytes() == (phase.folder / "masks" / f"{name}.png").read_bytes()


@needs("starter")
def test_reference_rows_follow_their_cases(tmp_path):
    assert main(["new", str(tmp_path / "points"), "--like", "points"]) == 0
    folder = tmp_path / "points" / "phase"
    phase = load_phase(folder, scan(folder))
    part = draw(phase, Fraction(1, 2))
    assert part.columns == ()
    write_subset(phase, part, tmp_path / "part", "part")
    names = {row["name"] for row in rows_of(tmp_path / "part")}
    key = next(iter(rows_of(folder, "mitoses.csv")[0]))
    assert rows_of(tmp_path / "part", "mitoses.csv") == [
        row for row in rows_of(folder, "mitoses.csv") if row[key] in names
    ]
    assert 0 < len(rows_of(tmp_path / "part", "mitoses.csv")) < len(rows_of(folder, "mitoses.csv"))


@pytest.mark.parametrize("place", ["phases/one/challenge.py", "phases/challenge.py"])
def test_a_challenge_that_is_programmed_at_home_comes_along(tmp_path, place):
    folder = write_phase(tmp_path / "phases" / "one")
    (tmp_path / place).write_text(AT_HOME, encoding="utf-8")
    phase = load_phase(folder, scan(folder))
    part = draw(phase, Fraction(1, 2))
    assert write_subset(phase, part, tmp_path / "elsewhere" / "part", "part") == []
    assert (tmp_path / "elsewhere" / "part" / "challenge.py").read_text(encoding="utf-8") == AT_HOME
    write_subset(phase, part, tmp_path / "phases" / "two", "two")
    beside = (tmp_path / "phases" / "two" / "challenge.py").exists()
    assert beside == (place == "phases/one/challenge.py")


def test_columns_that_make_no_strata():
    with pytest.raises(PhaseError) as caught:
        draw(bundled("refuge-onsite"), TENTH, ("name", "site", "fovea_x"))
    missing, names, fovea = caught.value.problems
    assert "'site' is missing" in missing
    assert "name: expected at most 10 values, found 40" in names
    assert "bins" not in names
    assert "bins in [[subgroups]]" in fovea


def test_nothing_is_drawn_or_written_where_it_cannot_be(tmp_path):
    phase = bundled("refuge-onsite")
    with faulted(PhaseError, "share", "none"):
        draw(phase, Fraction(1, 100))
    with faulted(PhaseError, "name", "'A Tenth'"):
        write_subset(phase, draw(phase, TENTH), tmp_path / "part", "A Tenth")
    assert list(tmp_path.iterdir()) == []
    refuge_phase(tmp_path / "there", sealed=False)
    with faulted(PhaseError, "there", "one that is not empty"):
        write_subset(phase, draw(phase, TENTH), tmp_path / "there", "part")


def test_a_name_that_stands_twice_is_refused(tmp_path):
    folder = refuge_phase(tmp_path / "phase", sealed=False)
    text = (folder / "phase.toml").read_text()
    (folder / "phase.toml").write_text(text.replace("name = ", '"name" = ', 1))
    phase = load_phase(folder, scan(folder))
    with faulted(PhaseError, "phase.toml", "0"):
        write_subset(phase, draw(phase, Fraction(1)), tmp_path / "part", "part")


# --- Random parts in which every stratum has its share ---


@pytest.mark.parametrize(
    ("sizes", "total", "parts"),
    [
        # Quotas 49.8, 9.6 and 0.6: two seats are left for three remainders.
        ({"NRG": 498, "RG": 96, "U": 6}, 60, {"NRG": 50, "RG": 10, "U": 0}),
        # 0.5 each: equal remainders, the first gets it.
        ({"a": 5, "b": 5}, 1, {"a": 1, "b": 0}),
        ({"a": 3, "b": 0}, 3, {"a": 3, "b": 0}),
        ({}, 0, {}),
    ],
)
def test_parts_by_hand(sizes, total, parts):
    assert apportion(sizes, total) == parts


def test_equal_remainders_of_small_strata_do_not_change_the_prevalence():
    # 4 of 40 cases; each of the ten strata has a quota of 0.4. Taken together, the first four would get one.
    strata = [(label, site) for label in "ab" for site in "vwxyz" for _ in range(4)]
    for seed in range(10):
        drawn = draw_part(strata, Fraction(1, 10), seed)
        assert drawn == sorted(set(drawn))
        assert Counter(strata[i][0] for i in drawn) == {"a": 2, "b": 2}


def test_all_sets_of_a_stratum_are_drawn_about_equally_often():
    strata = [("a",)] * 4 + [("b",)] * 2
    found = Counter(tuple(draw_part(strata, Fraction(1, 2), seed)) for seed in range(3000))
    # 2 of 4 and 1 of 2: 12 sets, 250 ± 15 each; six standard deviations are never left.
    assert set(found) == {(*two, one) for two in combinations(range(4), 2) for one in (4, 5)}
    assert all(abs(count - 250) < 92 for count in found.values())


def test_cases_without_strata():
    assert len(draw_part([()] * 9, Fraction(1, 2), 0)) == 5
