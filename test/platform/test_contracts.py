"""The platform's own packages: what this package reads of its exports is in the models of today.

`gcapi` has a data class for each record of the interface of the platform. A newer version that renames a key
which is read here fails in these tests, before an organiser finds out.
"""

import dataclasses
import typing

import pytest
from gcapi import models

from test.organiser.annotators import test_reader_study as studies
from test.organiser.ranking.test_platform_results import evaluation
from test.organiser.test_archive_items import item, scan


def fields_of(name):
    return {field.name for field in dataclasses.fields(getattr(models, name))}


# What is read, by model.
READ = {
    "Evaluation": {"pk", "submission", "created", "outputs", "status"},
    "Submission": {"pk", "phase", "created", "creator", "predictions_file"},
    "Phase": {"slug"},
    "User": {"username"},
    "ComponentInterfaceValue": {"socket", "interface", "value", "file", "image"},
    "HyperlinkedComponentInterfaceValue": {"socket", "interface", "value", "file", "image"},
    "ComponentInterface": {"slug", "kind", "super_kind", "relative_path"},
    "SimpleImage": {"pk", "name"},
    "HyperlinkedImage": {"pk", "name"},
    "HyperlinkedJob": {"pk", "inputs", "outputs", "status", "exec_duration", "invoke_duration"},
    "ArchiveItem": {"pk", "title", "values"},
    "DisplaySet": {"pk", "title_safe", "values"},
    "Question": {"pk", "question_text_safe", "answer_type", "options"},
    "CategoricalOption": {"id", "title"},
    "Answer": {
        *("pk", "answer", "creator", "created", "modified", "display_set", "question"),
        *("answer_image", "is_ground_truth"),
    },
    "ExternalEvaluation": {"pk", "submission", "phase_pk"},
    "ExternalEvaluationUpdate": {"metrics", "status", "error_message"},
}


@pytest.mark.parametrize("name", READ)
def test_keys_that_are_read_are_those_of_the_platform(name):
    assert READ[name] - fields_of(name) == set()


def test_the_two_ends_of_an_external_evaluation():
    assert {one.value for one in models.StatusEnum} == {"Succeeded", "Failed"}


def test_what_an_image_of_a_value_is():
    """Evaluations name their images; archive items and display sets have their addresses alone."""
    types = typing.get_type_hints(models.HyperlinkedComponentInterfaceValue)
    assert types["image"] == str | None
    named = typing.get_type_hints(models.ComponentInterfaceValue)
    assert named["image"] == models.SimpleImage | None


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
        assert set(row) - fields_of(name) == set(), name
