"""The paper of a challenge: LaTeX and Markdown of hostile names, tables of `rank`, tested claims, archive."""

import csv
import io
import json
import re
import tomllib
from dataclasses import replace
from fnmatch import fnmatchcase
from hashlib import sha256
from pathlib import Path

import pytest

from evaluation.cli.main import main
from evaluation.core.fault import PhaseError
from evaluation.organiser.paper import document as documents
from evaluation.organiser.paper.document import Document, archive_of, drafts, latex, markdown, references
from evaluation.organiser.paper.facts import TEXTS, read_study, sentences_of_tests
from evaluation.organiser.paper.paper_command import renew_folder
from evaluation.organiser.paper.questions import items_of, read_answers
from evaluation.organiser.ranking.leaderboard_file import MetricOfTeam
from evaluation.organiser.report.page import Table
from evaluation.phase.phase import load_phase
from evaluation.phase.registry import challenge_named, known_challenges
from test.faults import faulted
from test.organiser.paper.latex import faults_of
from test.organiser.report.boards import RankedTeams, ranked_teams
from test.phases import refuge_phase

ANALYSES = pytest.importorskip("evaluation.organiser.analyses.refuge").ANALYSES
LEAF = pytest.importorskip("evaluation.organiser.analyses.section")

HOSTILE = r"A_1 & 100% #1 {x} \y ~^ $z$ [a]"
UNICODE = "Łukasz <b>ü</b> | *b* `c` 中文 😀"
TEAMS = (HOSTILE, UNICODE, "=cmd()", "last")
ANSWERS = """
[archive]
authors = [{ name = "Doe, Jane", affiliation = "A & B", orcid = "0000-0001-2345-678X" }, { name = "Roe, R." }]
licence = "CC-BY-4.0"
date = "2024-05-31"
[flow]
collected = 60
excluded = 20
[bias]
title = "Glaucoma & 100 % of $x_1$"
ethics = "Approved.\\n\\nBy the board of [@nobody1999] and [@holm1979]."
[datasheet]
consent = "Yes."
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("paper")


@pytest.fixture(scope="module")
def ranked(folder) -> RankedTeams:
    """Return ranked teams whose results are those of a sealed phase."""
    teams = ranked_teams(folder, TEAMS, 40)
    phase = refuge_phase(folder / "phase", 24, keys={"name": "refuge-test", "title": "T_1 & #2"})
    path = teams.folder / "leaderboard.json"
    path.write_text(path.read_text().replace("digest of refuge-test", load_phase(phase).manifest.digest))
    for team, value in zip(TEAMS[2:], (0.0251, 0.125), strict=True):
        (teams.folder / team).mkdir()
        figures = [LEAF.AnalysisFigure("Inferior rim", "Absolute error", 24, 24, value, 0.02, 0.13, "BCa")]
        for name, data in LEAF.result_files(
            [LEAF.AnalysisResult("refuge-test", ANALYSES[0], tuple(figures), ())]
        ).items():
            (teams.folder / team / name).write_bytes(data)
    return teams


@pytest.fixture(scope="module")
def paper(folder, ranked) -> Document:
    (folder / "paper.toml").write_text(ANSWERS)
    answers = read_answers(folder / "paper.toml")
    return Document(read_study([load_phase(folder / "phase")], [ranked.folder], answers, 0))


@pytest.fixture(scope="module")
def files(paper) -> dict[str, bytes]:
    """Return the files of a paper, with empty figures."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(documents, "vector_files", lambda drawing: {"svg": b"<svg/>", "pdf": b"%PDF"})
        return dict(paper.files(lambda done: None))


@pytest.fixture(scope="module")
def archive(paper) -> dict[str, bytes]:
    return archive_of(paper)


def rows_of(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode())))


# --- LaTeX and Markdown ---


def test_the_document_has_no_fault_of_latex(files):
    texts = {name: data.decode() for name, data in files.items() if name.endswith(".tex")}
    keys = re.findall(r"^@\w+\{(\w+),", files["references.bib"].decode(), re.M)
    assert faults_of(texts, files, keys) == []
    assert {"maierhein2020", "holm1979", "dice1945"} <= set(keys) <= set(references())


@pytest.mark.parametrize(
    ("write", "text", "expected"),
    [
        (latex, "a_b & 5% #1", r"a\_b \& 5\% \#1"),
        (latex, r"{x} \y", r"\{x\} \textbackslash{}y"),
        (latex, "~^$", r"\textasciitilde{}\textasciicircum{}\$"),
        (latex, "Łé 中😀≤", r"Łé \unicodechar{4E2D}\unicodechar{1F600}\unicodechar{2264}"),
        (latex, "a\nb\x07", "a b "),
        (markdown, "a_b|c*", r"a\_b\|c\*"),
        (markdown, "<b>&`[x]", r"\<b\>\&\`\[x\]"),
        (markdown, "- a", r"\- a"),
        (markdown, "1. a", r"1\. a"),
        (markdown, "a\nb", "a b"),
        (markdown, "cup-to-disc 1.5", "cup-to-disc 1.5"),
    ],
)
def test_every_sign_is_shown(write, text, expected):
    assert write(text) == expected


def test_answers_go_into_the_manuscript_and_cite_known_sources_alone(files):
    text = files["parts/design.tex"].decode()
    assert r"By the board of {[}@nobody1999] and \citep{holm1979}." in text
    assert r"\title{Glaucoma \& 100 \% of \$x\_1\$}" in files["paper.tex"].decode()
    assert "bias.ethics" in text  # its source, as a comment
    assert r"\question{schedule}" in text
    assert r"\question{ethics}" not in text


# --- Tables and claims ---


def test_tables_have_the_places_and_values_of_rank(files, ranked):
    board = {row["team"]: row for row in rows_of((ranked.folder / "leaderboard.csv").read_bytes())}
    shown = rows_of(files["tables/ranking.csv"])
    assert len(shown) == len(board) == len(TEAMS)
    for row in shown:
        own = board[row["team"]]
        found = (row["overall: place"], float(row["score"]), row["segmentation"])
        assert found == (own["overall place"], float(own["overall score"]), own["segmentation place"])
    columns = {"AUC": "classification.auc", "Dice of the cup": "segmentation.dice_cup"}
    for row in rows_of(files["tables/metrics.csv"]):
        if column := columns.get(row["metric"]):
            assert float(row["value"]) == float(board[row["team"]][column])
            assert float(row["lower"]) == float(board[row["team"]][f"{column} lower"])


def test_a_further_analysis_of_all_teams_is_a_table_with_its_method(paper, files):
    (table,) = (one for one in paper.exhibits if "analysis-rim" in one.name)
    told = ("Submitted − reference and Absolute error", "n = 24 cases", "seed")
    assert [words for words in told if words not in table.caption] == []
    rows = rows_of(files[f"tables/{table.name}.csv"])
    # No cell of a csv file is a formula.
    assert [(row["team"], row["measure"], row["Absolute error"]) for row in rows] == [
        ("'=cmd()", "Inferior rim", "0.025 (0.020 to 0.130)"),
        ("last", "Inferior rim", "0.125 (0.020 to 0.130)"),
    ]


def said_of(sentences: list[str], first: str) -> dict[str, set[str]]:
    """Return the teams that sentences name, by what is said of them against the first one."""
    starts = {
        "worse": rf"^(.*) had significantly worse values than {re.escape(first)}\.$",
        "equal": rf"^No significant difference from {re.escape(first)} was found for (.*?)(?: \(|;)",
        "untested": rf"^Not tested against {re.escape(first)}: (.*)\.$",
    }
    found = {}
    for kind, pattern in starts.items():
        named = [one[1] for sentence in sentences if (one := re.search(pattern, sentence))]
        found[kind] = {name for text in named for name in re.split(", | and ", text)}
    return found


def with_ties(pairs, values):
    """Return pairs of which those of one value stand the other way round."""
    return tuple(
        replace(one, first=one.second, second=one.first, difference=one.difference.reversed())
        if values[one.first] == values[one.second]
        else one
        for one in pairs
    )


def test_every_team_is_named_as_its_pair_with_the_best_says_ties_too(paper):
    reported = paper.study.reported[0]
    name = "classification.auc"
    teams = [replace(team, team=called) for team, called in zip(reported.board.teams, "abcd", strict=True)]
    values = dict(zip("abcd", (0.9, 0.9, 0.9, 0.7), strict=True))
    teams = [
        replace(
            team,
            eligible=True,
            metrics={name: MetricOfTeam(replace(team.metrics[name].figure, value=values[team.team]))},
        )
        for team in teams
    ]
    metric = reported.board.metrics[name]
    example = metric.comparisons.pairs[0]
    p_values = {"ab": 0.0503, "ac": None, "ad": 0.001}
    pairs = with_ties(
        [
            replace(
                example,
                first=first,
                second=second,
                favours=first,
                difference=replace(example.difference, value=values[first] - values[second]),
                p_holm=p_values[first + second],
                significant=None if (p := p_values[first + second]) is None else p < 0.05,
            )
            for first, second in p_values
        ],
        values,
    )
    board = replace(
        reported.board,
        teams=tuple(teams),
        metrics={name: replace(metric, comparisons=replace(metric.comparisons, pairs=pairs))},
    )
    sentences = list(sentences_of_tests(replace(reported, board=board), name))
    assert said_of(sentences, "a") == {"worse": {"d"}, "equal": {"b"}, "untested": {"c"}}
    assert "by a, b and c." in sentences[0]
    assert any("corrected p = 0.0503" in sentence for sentence in sentences)
    # Of teams that share the first place nobody is second.
    assert not any("differed from that of" in sentence for sentence in sentences)


def test_the_first_value_comes_with_the_interval_of_its_difference_to_the_second(paper):
    reported = paper.study.reported[0]
    name = "segmentation.dice_cup"
    first, second = (team.team for team in reported.by_value(name)[:2])
    pairs = reported.board.metrics[name].comparisons.pairs
    (pair,) = [one for one in pairs if {one.first, one.second} == {first, second}]
    (told,) = [one for one in sentences_of_tests(reported, name) if "differed from that of" in one]
    words = re.fullmatch(rf"It differed from that of {second} by ([\d.]+) \(([\d.−]+) to ([\d.−]+)\)\.", told)
    assert words
    shown = [float(text.replace("−", "-")) for text in words.groups()]
    found = pair.difference
    assert shown == pytest.approx([found.value, found.lower, found.upper], abs=1e-4)


def test_the_paper_itself_has_few_tables_and_figures_and_the_supplement_all_others(paper, files):
    first = [one for one in paper.exhibits if one.part != "supplement"]
    main = {one.name for one in first}
    tables = {one.name for one in paper.exhibits if isinstance(one.content, Table)}
    assert main & tables <= {"data-cases", "ranking", "metrics", "tiers", "annotators"}
    assert not any(isinstance(one.content, Table) and len(one.content.rows) > 20 for one in first)
    # The flow of cases, the places, and a metric of each of the two ranked tasks.
    of_tasks = {"classification-auc-by-team", "segmentation-dice-cup-by-team"}
    assert main - tables == {"flow", "overall-blobs"} | of_tasks
    supplement = files["parts/supplement.tex"].decode()
    rest = {one.name for one in paper.exhibits} - main
    assert len(rest) > 10
    assert all(f":{name}}}" in supplement or f":{name}-" in supplement for name in rest)


@pytest.mark.parametrize("name", [name for name in known_challenges() if name != "declared"])
def test_every_metric_of_a_bundled_challenge_has_a_card(name):
    challenge = challenge_named(name)
    for task in challenge.tasks(challenge.options()):
        for metric in task.metrics:
            full = f"{name}.{task.name}.{metric.name}"
            text = next(
                card["text"] for card in TEXTS["metrics"] if any(fnmatchcase(full, of) for of in card["of"])
            )
            other = "lower is better" if metric.better == "higher" else "higher is better"
            assert text.endswith("."), full
            assert other not in text or not metric.ordered, full
            assert set(re.findall(r"@(\w+)", text)) <= set(references())


# --- Questions ---


def test_the_first_questions_are_all_that_is_open(paper):
    asked = tomllib.loads(paper.questions().decode())
    open_ones = {one.item.id for one in paper.items if one.is_open}
    assert set(asked["bias"]) == open_ones
    assert {"schedule", "why_metrics"} <= open_ones
    assert not {"metrics", "ranking_method", "ethics"} & open_ones
    assert set(asked["bias"].values()) == {""}
    ids = [item.id for item in items_of("bias.toml")]
    assert len(set(ids)) == len(ids)
    assert {item.same for item in items_of("datasheet.toml")} <= {*ids, ""}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[bias]\ntitel = ''", "titel"),
        ("[datasheet]\nethics = ''", "ethics"),
        ("[archive]\ndate = '31.5.2024'", "date"),
        ("[archive]\ndate = '20240531'", "date"),
        ("[archive]\nlicense = 'x'", "licence"),
        ("[flow]\ncollected = -1", "collected"),
        ("[bias", "paper.toml"),
    ],
)
def test_wrong_answers_are_faults(tmp_path, text, fault):
    (tmp_path / "paper.toml").write_text(text)
    with faulted(PhaseError, fault) as raised:
        read_answers(tmp_path / "paper.toml")
    assert all(problem.startswith("paper.toml: ") for problem in raised.value.problems)


def test_a_folder_is_written_again_unless_people_changed_it(tmp_path):
    place = tmp_path / "paper"
    renew_folder(place, {"a/b.md": b"1", "c.md": b"2"}, "paper.toml", b"first")
    (place / "paper.toml").write_bytes(b"answers")
    renew_folder(place, {"a/b.md": b"3"}, "paper.toml", b"first")
    found = {path.name: path.read_bytes() for path in place.rglob("*.*") if path.name != "written.json"}
    assert found == {"b.md": b"3", "paper.toml": b"answers"}
    (place / "a" / "b.md").write_bytes(b"mine")
    (place / "new.md").write_bytes(b"mine")
    with pytest.raises(PhaseError) as raised:
        renew_folder(place, {"a/b.md": b"4"}, "paper.toml", b"first")
    assert [Path(problem.partition(":")[0]).name for problem in raised.value.problems] == ["b.md", "new.md"]
    assert (place / "a" / "b.md").read_bytes() == b"mine"
    assert [path.name for path in tmp_path.iterdir()] == ["paper"]


def test_results_of_another_phase_are_refused(folder, ranked, tmp_path):
    other = load_phase(refuge_phase(tmp_path / "other", 4))
    with faulted(PhaseError, "refuge-test", "refuge-tiny"):
        read_study([other], [ranked.folder], read_answers(tmp_path / "none"), 0)


# --- The archive ---


def test_an_archive_holds_the_tables_of_rank_and_the_digests_of_all_files(archive, ranked):
    tables = {name.partition("/")[2]: data for name, data in archive.items() if name.startswith("tables/")}
    assert set(tables) >= {"leaderboard.csv", "comparisons.csv", "robustness.csv", "subgroup-tests.csv"}
    assert {name: (ranked.folder / name).read_bytes() for name in tables} == tables
    lines = [line.split("  ") for line in archive["SHA256SUMS"].decode().splitlines()]
    others = {name: sha256(data).hexdigest() for name, data in archive.items() if name != "SHA256SUMS"}
    assert {name: digest for digest, name in lines} == others


def test_an_archive_names_no_case(archive):
    whole = b"".join(archive.values())
    assert not re.search(rb"\b[CV]0\d\d\d?\b", whole)


def test_the_metadata_follow_the_rules_of_ro_crate(archive, paper):
    crate = json.loads(archive["ro-crate-metadata.json"])
    entities = {one["@id"]: one for one in crate["@graph"]}
    assert len(entities) == len(crate["@graph"])
    assert crate["@context"] == "https://w3id.org/ro/crate/1.1/context"
    descriptor, root = entities["ro-crate-metadata.json"], entities["./"]
    assert (descriptor["@type"], descriptor["about"]) == ("CreativeWork", {"@id": "./"})
    assert descriptor["conformsTo"] == {"@id": "https://w3id.org/ro/crate/1.1"}
    assert (root["@type"], root["datePublished"]) == ("Dataset", "2024-05-31")
    assert entities[root["license"]["@id"]]["name"] == "CC-BY-4.0"
    assert [entities[one["@id"]]["name"] for one in root["author"]] == ["Doe, Jane", "Roe, R."]
    parts = {one["@id"] for one in root["hasPart"]}
    assert parts == set(archive) - {"SHA256SUMS", "ro-crate-metadata.json"}
    assert all(entities[name]["sha256"] == sha256(archive[name]).hexdigest() for name in parts)
    zenodo = json.loads(archive[".zenodo.json"])
    assert set(zenodo["creators"][0].values()) == {"Doe, Jane", "A & B", "0000-0001-2345-678X"}
    assert (zenodo["upload_type"], zenodo["license"]) == ("dataset", "CC-BY-4.0")
    assert drafts(paper.study) == []


def test_the_same_input_gives_the_same_bytes(paper, files, archive, monkeypatch):
    monkeypatch.setattr(documents, "vector_files", lambda drawing: {"svg": b"<svg/>", "pdf": b"%PDF"})
    again = Document(paper.study)
    assert dict(again.files(lambda done: None)) == files
    assert archive_of(again) == archive


# --- The command ---


def test_the_command_says_what_it_lacks(tmp_path, capsys):
    assert main(["paper", str(tmp_path)]) == 1
    assert "--results" in capsys.readouterr().err
