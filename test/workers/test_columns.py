import pickle

import pytest

from evaluation.core.form import CaseForm
from evaluation.core.sources import CellsSource, FileSource, JsonFileSource
from evaluation.workers.batches import Columns

INSTANCES = {
    "none": [],
    "of one class": [CaseForm("A", 3, 4, {"set": "x"}), CaseForm("B")],
    "of two classes": [FileSource("a.txt"), CellsSource(("1",), "t.csv", 2, ("c",))],
    "of a named tuple": [JsonFileSource("a.json", "job a", 9, 2), JsonFileSource("b.json", "job b", 9)],
    "of no dataclass": [1, 2, 3],
}


@pytest.mark.parametrize("name", INSTANCES)
def test_instances_come_as_they_were(name):
    instances = INSTANCES[name]
    assert pickle.loads(pickle.dumps(Columns.of(instances))).instances() == instances
