"""The platform's own packages: what this package reads of its exports is in the models of today.

`gcapi` has a data class for each record of the interface of the platform. A newer version that renames a key
which is read here, or gives it another type, fails in these tests, before an organiser finds out.
"""

import typing
from typing import Any

import pytest
from gcapi import models

from test.organiser.annotators import test_reader_study as studies
from test.organiser.ranking.test_platform_results import evaluation
from test.organiser.test_archive_items import item, scan

NO_TEXT = str | None
VALUE = {
    "socket": models.ComponentInterface, "interface": models.ComponentInterface, "value": Any | None,
    "file": NO_TEXT,
}  # fmt: skip
VALUES = list[models.HyperlinkedComponentInterfaceValue]
READ: dict[str, dict[str, Any]] = {
    "Evaluation": {
        "pk": str, "submission": models.Submission, "created": str, "status": str,
        "outputs": list[models.ComponentInterfaceValue],
    },
    "Submission": {
        "pk": str, "phase": models.Phase, "created": str, "creator": models.User, "predictions_file": NO_TEXT,
    },
    "Phase": {"slug": str},
    "User": {"username": str},
    # Evaluations name their images; archive items and display sets have their addresses alone.
    "ComponentInterfaceValue": {**VALUE, "image": models.SimpleImage | None},
    "HyperlinkedComponentInterfaceValue": {**VALUE, "image": NO_TEXT},
    "ComponentInterface": dict.fromkeys(("slug", "kind", "super_kind", "relative_path"), str),
    "SimpleImage": {"pk": str, "name": str},
    "HyperlinkedImage": {"pk": str, "name": str},
    "HyperlinkedJob": {
        "pk": str, "inputs": VALUES, "outputs": VALUES, "status": str, "exec_duration": NO_TEXT,
        "invoke_duration": NO_TEXT,
    },
    "ArchiveItem": {"pk": str, "title": str, "values": VALUES},
    "DisplaySet": {"pk": str, "title_safe": str, "values": VALUES},
    "Question": {
        "pk": str, "question_text_safe": str, "answer_type": str, "options": list[models.CategoricalOption],
    },
    "CategoricalOption": {"id": int, "title": str},
    "Answer": {
        "pk": str, "answer": Any | None, "creator": str, "created": str, "modified": str, "question": str,
        "display_set": NO_TEXT, "answer_image": NO_TEXT, "is_ground_truth": bool,
    },
    "ExternalEvaluation": {"pk": str, "submission": models.Submission, "phase_pk": str},
    "ExternalEvaluationUpdate": dict.fromkeys(("metrics", "status", "error_message")),
}  # fmt: skip
"""What is read or sent, by model: keys and the types of their values; None: a type that is ours to choose."""


def types_of(name: str) -> dict[str, Any]:
    return typing.get_type_hints(getattr(models, name))


@pytest.mark.parametrize("name", READ)
def test_what_is_read_has_the_keys_and_types_of_the_platform(name):
    found = types_of(name)
    assert READ[name].keys() - found.keys() == set()
    assert {key: found[key] for key, of in READ[name].items() if of} == {
        key: of for key, of in READ[name].items() if of
    }


def test_the_two_ends_of_an_external_evaluation():
    assert {one.value for one in models.StatusEnum} == {"Succeeded", "Failed"}


def test_rows_of_the_tests_have_no_key_that_the_platform_has_not(tmp_path):
    export = studies.Export(tmp_path)
    export.say("ana", 1, "Grade", 11)
    rows = {
        "Evaluation": evaluation(1, "ana", {}),
        "ArchiveItem": item(1, scan("P1.mha")),
        "DisplaySet": studies.display_set(1),
        "Question": studies.question(0, "Grade"),
        "Answer": export.answers[0],
    }
    for name, row in rows.items():
        assert row.keys() - types_of(name).keys() == set(), name
