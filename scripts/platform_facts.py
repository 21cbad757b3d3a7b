"""Everything that is stated of the platforms: in words, with the date at which it was last seen.

Pages link to `docs/platform.md`, which is made of these facts. A test holds that nothing else states one of
them.
"""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.platform.facts import (
    LARGEST_PAGE,
    LIMIT_OF_SUBMISSIONS,
    LIMIT_PERIOD_DAYS,
    LOG_LINE_BYTES,
    LOG_LINES,
    MAX_PATH_LENGTH,
    MAX_TITLE_LENGTH,
    MESSAGE_LENGTH,
    PAGE,
)

TIME_LIMIT_SECONDS, MEMORY_MB, PROCESSORS = 3600, 7168, 2
"""Defaults of an evaluation; the memory is what a process of the smallest machine may use."""
CLAIM_HOURS = 24
"""Time for the end of an external evaluation that was claimed."""


@dataclass(frozen=True)
class PlatformFact:
    """A fact of a platform; ``words``: a regular expression that finds it wherever it is stated.

    ``seen``: year and month at which the source said so last.
    """

    subject: str
    text: str
    seen: str
    source: str
    words: str


_SITE, _SHIM = "comic/grand-challenge.org", "DIAGNijmegen/rse-sagemaker-shim"
_ISSUES = "DIAGNijmegen/rse-grand-challenge"
_CODABENCH = "codalab/codabench"

FACTS = (
    PlatformFact(
        "leaderboards",
        "There is one leaderboard for each phase, and none over several phases: combined leaderboards were "
        "removed in July 2026.",
        "2026-07", f"{_ISSUES}, pull request 4879", r"combined leaderboards?",
    ),
    PlatformFact(
        "ranking",
        "A phase ranks by its score, or by the mean or median of the ranks in score and ranked columns. All "
        "columns count alike. Equal teams share the lowest rank. An evaluation that did not succeed, is not "
        "published or lacks a ranked number gets no rank.",
        "2025-12", f"{_SITE}, evaluation/tasks.py and utils.py", r"columns\s+count\s+alike",
    ),
    PlatformFact(
        "titles and paths",
        f"The title of a score or column has at most {MAX_TITLE_LENGTH} characters, its path at most "
        f"{MAX_PATH_LENGTH}. A path has plain keys with dots between.",
        "2025-12", f"{_SITE}, evaluation/models.py", r"path\s+at\s+most",
    ),
    PlatformFact(
        "submissions",
        f"The limit of submissions is {LIMIT_OF_SUBMISSIONS} by default, which closes a phase to "
        f"participants, and its period {LIMIT_PERIOD_DAYS} day; an empty period is all time. Each member of "
        "a team is counted alone, and a submission whose evaluation failed is not counted.",
        "2025-12", f"{_SITE}, `Phase.get_next_submission`",
        r"is 0 by default|default\s+(there\s+is|of|is)\s+[01]\b",
    ),
    PlatformFact(
        "publication",
        "New results are published at once unless `auto_publish_new_results` is switched off, and all of "
        "`metrics.json` is shown with them unless `display_all_metrics` is.",
        "2025-12", f"{_SITE}, evaluation/models.py", r"auto_publish_new_results",
    ),
    PlatformFact(
        "test images",
        "`give_algorithm_editors_job_view_permissions` of a phase shows participants the jobs of their "
        "algorithms, and with them the test images.",
        "2025-12", f"{_SITE}, evaluation/models.py", r"job_view_permissions",
    ),
    PlatformFact(
        "time and memory",
        f"An evaluation has {TIME_LIMIT_SECONDS} seconds, {PROCESSORS} processors, {MEMORY_MB} MB for each "
        "process and no network. The time is changed by support alone; an organiser chooses the memory, from "
        "4 GB up to the most that support allows the phase.",
        "2025-12", f"{_SITE}, evaluation/models.py and components/backends", rf"{MEMORY_MB} MB|from\s+4 GB",
    ),
    PlatformFact(
        "messages",
        f"Participants read the last line of standard error, at most {MESSAGE_LENGTH} characters of it. The "
        f"log keeps the last {LOG_LINES} lines and drops lines above {LOG_LINE_BYTES >> 10} KiB.",
        "2025-12", f"{_SITE}, components/models.py; {_SHIM}",
        rf"{MESSAGE_LENGTH} characters|last\s+{LOG_LINES}\s+lines|above\s+{LOG_LINE_BYTES >> 10} KiB",
    ),
    PlatformFact(
        "start of an image",
        "The label `org.grand-challenge.api-method` says how an image runs. `exec`, also without a label: "
        "once for each job. `invoke`: as a server that is called for each job; the templates use it since "
        "July 2026. Of an evaluation that is called, participants read "
        '"Invoke endpoint returned status 500, expected 201" in place of the reason for a rejection. Phases '
        "that refuse algorithms of one of the two were agreed on in July 2026.",
        "2026-07", f"{_ISSUES}, pull requests 4469 and 4858, issue 4898", r"Invoke endpoint returned",
    ),
    PlatformFact(
        "runtime",
        "Version 0.8.3 of the runtime surrounds each image. Root unpacks a zip file into `/input`, without a "
        "leading folder that all files share, and writes `inputs.json` beside; the user of the image runs. "
        "At the time limit all processes get SIGTERM and are killed five seconds later.",
        "2026-08", f"{_ISSUES}, pull request 4972; {_SHIM}", r"\b0\.8\.3\b",
    ),
    PlatformFact(
        "durations",
        "A job has `exec_duration`, which includes the start of the program, or `invoke_duration`, which "
        "does not need to; both may be missing.",
        "2025-10", f"{_ISSUES}, pull request 4372", r"which\s+includes\s+the\s+start",
    ),
    PlatformFact(
        "support",
        "Support attaches the archive and the interfaces of algorithms, and further inputs and outputs of "
        "the evaluation. An evaluation without one of its outputs fails.",
        "2025-12", f"{_SITE}, evaluation/admin.py", r"[Ss]upport\s+(staff\s+)?attach",
    ),
    PlatformFact(
        "external evaluation",
        "A phase is evaluated on machines of the organisers if it is one of algorithms, has a parent phase "
        "and no evaluation method of its own. A person may claim an evaluation that waits, and has "
        f"{CLAIM_HOURS} hours for its end. The claim is refused to a person who has claimed one before: "
        "finished evaluations count, too, since their claims are never cleared.",
        "2025-12", f"{_SITE}, `Phase._clean_external_evaluation` and evaluation/views/api.py",
        r"who\s+has\s+claimed\s+one|claims\s+are\s+never\s+cleared",
    ),
    PlatformFact(
        "exports",
        f"The API answers in pages of {PAGE} rows, with the number of all in `count`; `limit={LARGEST_PAGE}` "
        f"asks for the most, and `offset={LARGEST_PAGE}` for what follows. A csv file is one page, too, and "
        "does not tell the number.",
        "2025-12", f"{_SITE}, config/settings.py and api/pagination.py", rf"pages\s+of\s+{PAGE}\b",
    ),
    PlatformFact(
        "Codabench",
        "Whatever is on a leaderboard is sorted by the columns, and a line without scores comes first. A "
        "submission whose scoring program failed cannot be added since version 1.25; one that finished "
        "without scores is added.",
        "2026-07", f"{_CODABENCH}, issues 1284, 2321 and 2470", r"without\s+scores\s+comes\s+first",
    ),
)  # fmt: skip
