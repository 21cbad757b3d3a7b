"""One run over many submissions: finds the missing results, scores, and writes them."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from evaluation.core.fault import printable
from evaluation.core.trouble import MachineTrouble, trouble_of
from evaluation.io.files import sha256_of
from evaluation.organiser.rescoring.kept import Results, is_reserved
from evaluation.organiser.rescoring.task import Answer, Answers, Engine, ScoringTask
from evaluation.phase import registry

MOST_OF_NAME = 400


@dataclass
class Summary:
    """The number of submissions by result, and the reasons of failures."""

    counts: dict[str, int] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)

    def add(self, place: str, answer: Answer) -> None:
        """Count an answer."""
        self.counts[answer.kind] = self.counts.get(answer.kind, 0) + 1
        if answer.kind == "failed":
            self.failures[place] = answer.line

    @property
    def done(self) -> int:
        """How many submissions are finished."""
        return sum(self.counts.values())

    def lines(self) -> Iterator[str]:
        """Yield the failures, one a line, and the counts in the last line."""
        for place, reason in sorted(self.failures.items()):
            # Not to be taken for other lines: the name of a team's folder, and those of a traceback.
            block = reason.replace("\n", "\n  ")
            yield f"FAILED {printable(place, MOST_OF_NAME)}: {block}"
        parts = ("scored", "kept", "rejected", "failed")
        noun = "submission" if self.done == 1 else "submissions"
        yield f"{self.done} {noun}: " + ", ".join(f"{self.counts.get(part, 0)} {part}" for part in parts)


def score_all(tasks: Sequence[ScoringTask], output: Path, engine: Engine) -> Answers:
    """Score submissions into OUTPUT/<place>/, and yield each with its answer once its result is written.

    A submission that another run has claimed comes last, when that run is done with it. One whose result
    cannot be written has failed, and so has one with the name of a file of results. Raises `MachineTrouble`
    and `OSError` where there can be no results at all, and the engine's errors.
    """
    for task in tasks:
        if is_reserved(task.place):
            reason = f"{task.place} names a file of results; give the submission another name"
            yield task, Answer.failed(reason)
    tasks = [task for task in tasks if not is_reserved(task.place)]
    with Results(output) as results, engine:
        busy: list[ScoringTask] = []
        yield from _published(engine.run(_claimed(tasks, results, busy)), results)
        for task in busy:
            # One at a time, and none of our own claims held: two runs never wait for each other.
            results.take(task.place, wait=True)
            yield from _published(engine.run(iter([_with_kept(task, results)])), results)


def _claimed(
    tasks: Sequence[ScoringTask], results: Results, busy: list[ScoringTask]
) -> Iterator[ScoringTask]:
    for task in tasks:
        if results.take(task.place):
            yield _with_kept(task, results)
        else:
            busy.append(task)


def _published(answers: Answers, results: Results) -> Answers:
    for task, answer in answers:
        # A failure says nothing about an earlier result that may still hold.
        if answer.kind == "kept" and results.is_rejection(task.place):
            answer = replace(answer, line="kept: rejected as before")
        elif answer.kind != "kept" and not (answer.kind == "failed" and task.kept):
            try:
                results.publish(task.place, _made_of(task), answer)
            except (OSError, MachineTrouble) as error:
                if answer.kind != "failed":
                    answer = Answer.failed(str(trouble_of(error, "write", task.place) or error))
        results.release(task.place)
        yield task, answer


def _with_kept(task: ScoringTask, results: Results) -> ScoringTask:
    try:
        return replace(task, kept=results.kept(task.place, _made_of(task)))
    except OSError:
        return task  # whoever scores it says why


def _made_of(task: ScoringTask) -> dict[str, object]:
    seal, folder = task.seal, Path(task.phase)
    file = registry.find_file(folder)
    # A challenge that is programmed beside `phase.toml` is sealed with it, one in the folder above is not.
    if file is not None and file.parent != folder.absolute():
        for path in registry.files_at_home(file):
            seal = f"{seal}, {path.name} {sha256_of(path.read_bytes())}"
    return {"seal": seal, "source": task.source, "environment": asdict(task.environment)}
