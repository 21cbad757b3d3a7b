"""A phase as it is scored: configuration, tasks, form and reference files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Literal

from evaluation.core.challenge import (
    Challenge,
    FormColumn,
    Options,
    Task,
    metrics_of,
)
from evaluation.core.fault import PhaseError
from evaluation.core.form import CaseRow, Form
from evaluation.phase.cases import Cases, read_cases
from evaluation.phase.config import FILE_NAME, PhaseConfig, read_config
from evaluation.phase.configuration import chosen_rules
from evaluation.phase.derived_columns import with_derived_columns
from evaluation.phase.leaderboard import FILE_NAME as LEADERBOARD
from evaluation.phase.leaderboard import TeamValues, read_leaderboard
from evaluation.phase.leaderboard_metrics import optional_tasks
from evaluation.phase.manifest import Manifest, has_sealed_tables, read_manifest, verify
from evaluation.phase.phase_checks import (
    faults_of_sockets,
    impossible_methods,
    missing_columns,
    unknown_metrics,
    unknown_tasks,
)
from evaluation.phase.reference import ReferenceFiles
from evaluation.phase.reference_pairing import pair_files
from evaluation.phase.registry import rules_of
from evaluation.phase.validation import InvalidTableError

Source = Literal["image", "tarball", "folder"]


@dataclass(frozen=True)
class Phase:
    """One test set of a challenge with its rules; ``source`` is the origin of its folder."""

    folder: Path
    config: PhaseConfig
    challenge: Challenge
    options: Options
    tasks: tuple[Task, ...]
    cases: Cases
    manifest: Manifest
    reference_paths: Mapping[str, Mapping[str, str]]
    leaderboard: tuple[TeamValues, ...] = ()
    source: Source = "folder"
    seal_is_verified: bool = True

    @cached_property
    def form(self) -> Form:
        """The public part of the phase, without labels."""
        return Form(
            challenge=self.challenge.name,
            phase=self.config.name,
            submission=self.config.submission,
            tasks=tuple(task.name for task in self.tasks),
            missing=self.missing,
            options=self.options.form_options(),
            sockets=self.config.sockets,
            cases=self.cases.forms,
            optional_tasks=optional_tasks(self.config, self.challenge, self.tasks),
            input_sockets=self.config.input_sockets,
            run_time=self.config.scored_run_time,
            provided=self.challenge.provided if self.config.provided is None else self.config.provided,
        )

    def verify_seal(self) -> None:
        """Compare all files with the seal, unless that has been done. Raises `PhaseError`."""
        if not self.seal_is_verified:
            verify(self.folder, self.manifest)

    @property
    def missing(self) -> str:
        """Treatment of an incomplete submission: "reject" or "worst"."""
        return self.config.missing or self.challenge.missing

    @property
    def rows(self) -> tuple[CaseRow, ...]:
        """The rows of the case table, in the order of the form's cases."""
        return self.cases.rows

    @property
    def reference(self) -> ReferenceFiles:
        """The reference as workers open it."""
        digests = {path: file.sha256 for path, file in self.manifest.files.items()}
        return ReferenceFiles(str(self.folder), digests, self.reference_paths)


def load_phase(folder: Path, manifest: Manifest | None = None, source: Source = "folder") -> Phase:
    """Return the sealed phase in a folder; its seal is verified. Raises `PhaseError` listing every fault.

    ``manifest`` replaces the one in the folder, for a phase that is about to be sealed.
    """
    if not folder.is_dir():
        raise PhaseError(f"{folder}: is not a folder")
    if manifest is None:
        manifest = read_manifest(folder)
        verify(folder, manifest)
    return _load(folder, manifest, source)


def load_phase_to_verify(folder: Path, source: Source = "folder") -> Phase:
    """Return the sealed phase in a folder, as `load_phase` does; `Phase.verify_seal` is left to the caller.

    The tables have been compared with the seal, but not the names and sizes of the other files: to list
    EDD2020's 10,000 files takes 0.045 s, 8 % of its evaluation, during which a reader lists the submission.
    """
    if not folder.is_dir():
        raise PhaseError(f"{folder}: is not a folder")
    manifest = read_manifest(folder)
    if has_sealed_tables(folder, manifest):
        with suppress(PhaseError):
            return replace(_load(folder, manifest, source), seal_is_verified=False)
    return load_phase(folder, source=source)  # raises every fault


def _load(folder: Path, manifest: Manifest, source: Source) -> Phase:
    try:
        config = read_config(folder)
    except PhaseError as error:
        raise PhaseError(*error.problems, *_faults_of_cases(folder)) from None
    problems: list[str] = []
    try:
        rules = chosen_rules(config, folder)
    except PhaseError as error:
        problems += error.problems
        try:
            # With default options, faults elsewhere are found as well.
            rules = rules_of(config.challenge, {})
        except (PhaseError, InvalidTableError):
            raise PhaseError(*problems, *_faults_of_cases(folder)) from None
    challenge, options = rules.challenge, rules.options
    try:
        tasks = rules.select_tasks(config.tasks, config.scored_run_time)
    except PhaseError as error:
        others = _faults_of_cases(folder, challenge.form_columns_of(config.submission))
        raise PhaseError(*problems, *_in_config(error), *others) from None
    problems += unknown_metrics(config, challenge, tasks)
    problems += unknown_tasks(config, tasks)
    problems += faults_of_sockets(config, tasks)
    try:
        cases = read_cases(folder, challenge.form_columns_of(config.submission))
    except PhaseError as error:
        raise PhaseError(*problems, *error.problems) from None
    cases = with_derived_columns(cases, challenge, options, [group.column for group in config.subgroups])
    problems += impossible_methods(config, tasks, cases)
    problems += missing_columns(config, tasks, cases)
    paths = pair_files(tasks, cases, manifest, problems)
    teams: tuple[TeamValues, ...] = ()
    if LEADERBOARD in manifest.files:
        try:
            teams = read_leaderboard(folder / LEADERBOARD, tuple(metrics_of(tasks)))
        except PhaseError as error:
            problems += error.problems
    if problems:
        raise PhaseError(*problems)
    return Phase(folder, config, challenge, options, tasks, cases, manifest, paths, teams, source)


def _in_config(error: PhaseError) -> list[str]:
    return [f"{FILE_NAME}: {problem}" for problem in error.problems]


def _faults_of_cases(folder: Path, form_columns: Sequence[FormColumn] = ()) -> tuple[str, ...]:
    """Return the faults of the case table alone, to be listed beside faults of the configuration."""
    try:
        read_cases(folder, form_columns)
    except PhaseError as error:
        return error.problems
    return ()
