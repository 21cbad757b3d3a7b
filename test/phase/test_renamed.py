"""Words of earlier versions are answered with those of today."""

import pytest

from test.challenges.declared.phases import write_table
from test.started import run

HEAD = 'name = "old"\nsubmission = "archive"\n'
OLD = {
    "score": (f'{HEAD}score = "all.auc"\n', "score: is platform.score now"),
    "sockets": (f'{HEAD}[sockets]\nmap = "scores"\n', "sockets: is platform.sockets now"),
    "charts": (f'{HEAD}charts = ["roc"]\n', "charts: is outputs now"),
    "ranking": (
        f'{HEAD}[fields.map]\nkind = "label_map"\nlabels = {{ 1 = "a" }}\n'
        '[tasks.t]\nmetrics = ["dice"]\n[ranking]\nscore = "t.dice"\n',
        "ranking.score: is platform.score now",
    ),
    "key": (
        f'{HEAD}[fields.map]\nkind = "label_map"\naxes = 2\nlabels = {{ 1 = "a" }}\n',
        "fields.map.axes: is fields.map.dimensions now",
    ),
    "reference": (
        f'{HEAD}[fields.cells]\nkind = "points"\ndimensions = 2\nreference = "true.csv"\n',
        "fields.cells.reference: is fields.cells.reference_table now",
    ),
    "option": (
        f'{HEAD}[fields.map]\nkind = "label_map"\nlabels = {{ 1 = "a" }}\n'
        '[tasks.t.metrics]\nlesion_f1 = { reading = "counts" }\n',
        "tasks.t.metrics.lesion_f1.reading: is tasks.t.metrics.lesion_f1.formula now",
    ),
    "value": (
        f'{HEAD}[fields.map]\nkind = "label_map"\nlabels = {{ 1 = "a" }}\n'
        '[tasks.t.metrics]\ndice = { absent = "leave_out" }\n',
        "'leave_out' is 'exclude' now",
    ),
    "matching": (
        f'{HEAD}[fields.b]\nkind = "boxes"\n[tasks.t.metrics.box_average_precision]\nmatching = "voc"\n',
        "'voc' is 'best_only' now",
    ),
}


@pytest.mark.parametrize("word", OLD)
def test_old_words_are_answered(tmp_path, word):
    text, told = OLD[word]
    (tmp_path / "phase.toml").write_text(text)
    write_table(tmp_path / "cases.csv", {"name": ["a"], "width": [9], "height": [8]})
    assert told in run("seal", tmp_path).stderr
