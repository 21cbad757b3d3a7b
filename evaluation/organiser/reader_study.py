"""The answers of a reader study on grand-challenge.org, from the files that the platform exports."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from evaluation.core.fault import PhaseError, shorten
from evaluation.core.form import name_key
from evaluation.organiser.platform_export import Row, key_of, name_of, names_of_images, read_rows


def letters_of(text: str) -> str:
    """Return the letters and digits of a text, in lower case."""
    return re.sub(r"[^a-z0-9]+", "", text.casefold())


@dataclass(frozen=True)
class Question:
    """A question: its text, the kind of its answers, and the titles of its options by number."""

    text: str
    answer_type: str
    options: Mapping[int, str]

    @property
    def is_polygon(self) -> bool:
        """Whether answers are polygons."""
        return "polygon" in self.answer_type.casefold()


@dataclass(frozen=True)
class ReaderAnswer:
    """One answer of a reader to a question on a case; ``names`` may be the case's, ``image`` is a mask's key.

    A choice is the title of its option. ``value`` is None where only a mask was drawn.
    """

    reader: str
    names: tuple[str, ...]
    question: Question
    value: Any
    image: str | None
    place: str


@dataclass
class ReaderStudy:
    """The newest answers of each reader, and how many were left out or edited, by a word for them."""

    questions: list[Question]
    answers: list[ReaderAnswer]
    counts: Counter[str] = field(default_factory=Counter)
    images: Mapping[str, str] = field(default_factory=dict)

    @property
    def told(self) -> str:
        """The counts in words."""
        return ", ".join(f"{count} {word}" for word, count in self.counts.items() if count)


def read_study(paths: Sequence[Path]) -> ReaderStudy:
    """Read answers, questions, display sets and images, told apart by their keys, from any number of files.

    Several files of one kind are pages of a list.
    Answers without content are unanswered; those of the ground truth are no reader's; of several answers of a
    reader to the same question the one modified last counts. Raises `PhaseError` with every fault.
    """
    exported = read_rows(paths, ("pk",))
    rows = [one.values for one in exported]
    questions = {key_of(row["pk"]): _question(row) for row in rows if "answer_type" in row}
    images = names_of_images([row for row in rows if "name" in row and "values" not in row])
    sets = {key_of(row["pk"]): _names_of(row, images) for row in rows if "values" in row}
    answers = [(one.place, one.values) for one in exported if "answer" in one.values]
    lacking = {"answers": answers, "questions": questions, "display sets": sets}
    files = ", ".join(path.name for path in paths)
    PhaseError.raise_all([f"{files}: expected {word}, found none" for word, of in lacking.items() if not of])
    study = ReaderStudy(list(questions.values()), [], images=images)
    problems: list[str] = []
    newest: dict[tuple[str, str, str], tuple[datetime, ReaderAnswer]] = {}
    for place, row in answers:
        question, of = questions.get(key_of(row.get("question"))), key_of(row.get("display_set"))
        if question is None or of not in sets:
            missing = "question" if question is None else "display_set"
            problems.append(f"{place}, {missing}: expected one of the export, found {row.get(missing)!r}")
            continue
        if str(row.get("is_ground_truth")).casefold() == "true":
            study.counts["of the ground truth"] += 1
            continue
        image = row.get("answer_image")
        try:
            value = _value_of(row["answer"], question)
        except (KeyError, TypeError, ValueError):
            ids = f" (ids {', '.join(map(str, question.options))})" if question.options else ""
            expected = f"expected an answer of type {question.answer_type}{ids}"
            problems.append(f"{place}: {expected}, found {shorten(repr(row['answer']))}")
            continue
        times = [str(row.get(key)) for key in ("created", "modified")]
        try:
            created, modified = map(datetime.fromisoformat, times)
        except ValueError:
            problems.append(f"{place}: expected times in created and modified, found {', '.join(times)}")
            continue
        if value is None and image is None:
            study.counts["unanswered"] += 1
            continue
        study.counts["edited"] += (modified - created).total_seconds() > 1
        reader = str(row.get("creator"))
        answer = ReaderAnswer(
            reader, sets[of], question, value, None if image is None else key_of(image), place
        )
        key = (reader, of, key_of(row.get("question")))
        if key in newest:
            study.counts["replaced by a later one"] += 1
        if key not in newest or newest[key][0] <= modified:
            newest[key] = (modified, answer)
    PhaseError.raise_all(problems)
    study.answers = [answer for _, answer in newest.values()]
    return study


def _question(row: Row) -> Question:
    options = row.get("options") or []
    titles = {int(one["id"]): str(one["title"]) for one in options if isinstance(one, dict)}
    return Question(str(row.get("question_text_safe", "")), str(row["answer_type"]), titles)


def _names_of(row: Row, images: Mapping[str, str]) -> tuple[str, ...]:
    found = (name_of(value, images) for value in row["values"])
    return tuple(name for name in (row.get("title_safe"), *found) if name)


def _value_of(value: Any, question: Question) -> Any:
    """Return an answer with its JSON type, which a csv does not have. Raises `ValueError`."""
    kind = question.answer_type.casefold()
    if value is None or value in ("", [], {}):
        return None
    if kind == "bool":
        if (text := str(value).casefold()) not in ("true", "false"):
            raise ValueError(f"found {value!r}")
        return text == "true"
    if kind in ("number", "integer", "float"):
        return float(value)
    if "multiple choice" in kind:
        return [question.options[int(one)] for one in value]
    if "choice" in kind:
        return question.options[int(value)]
    return value


def columns_of_study(study: ReaderStudy, cases: Mapping[str, int], text: str | None) -> dict[str, list[Any]]:
    """Return the answers to a question of yes or no, or of a number, as a column for each reader.

    cases: positions by the key of the name. ``text``: of the question, needed where there are several such.
    Raises `PhaseError`.
    """
    kinds = ("bool", "number", "integer", "float")
    known = [one for one in study.questions if one.answer_type.casefold() in kinds]
    chosen = [one for one in known if text is None or one.text == text]
    if len(chosen) != 1:
        names = ", ".join(repr(one.text) for one in known) or "none"
        expected = "expected one question with yes, no or a number; name it as FOLDER=TEXT"
        raise PhaseError(f"{expected}, found {names}")
    columns: dict[str, list[Any]] = defaultdict(lambda: [None] * len(cases))
    problems = []
    for answer in study.answers:
        if answer.question is chosen[0]:
            position = next((cases[key] for name in answer.names if (key := name_key(name)) in cases), None)
            if position is None:
                problems.append(f"{answer.place}: {answer.names} is not a case of this phase")
            else:
                columns[answer.reader][position] = float(answer.value)
    PhaseError.raise_all(problems)
    return dict(sorted(columns.items()))
