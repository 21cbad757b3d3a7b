"""A season of submissions to two phases, with the troubles of a cluster; every outcome is checked.

    python -m benchmarks.season [--submissions 1000] [--keep FOLDER]

Half of the submissions are zips of masks for a phase of REFUGE, half are folders of an algorithm's results
for one of JustRAIGS; every twentieth has a fault. They are scored

1. on this machine, which gives the bytes that all other runs are compared with;
2. from addresses `s3://…` on a Dask cluster: one worker runs out of memory and is ended, one has another
   version of the package, one is sound;
3. by the worker of another version alone, which must score nothing;
4. with three corrected labels, on `--cluster local` with `--since`;
5. with the corrected labels in three shares (`--shard`), each into a folder of its own;
6. once more, where every result is kept.

For each run it prints the seconds and the peak memory of the main process. It ends with status 1 if an
outcome is not as expected. Behind `s3://` is a stand-in that reads a folder; no network is measured.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import evaluation
from benchmarks.measure import _resident_kilobytes, write_sample
from test.organiser.parallel.dask_processes import Dask

_REPOSITORY = Path(__file__).resolve().parent.parent
_QUALITIES = ("perfect", "good", "poor", "random")
_ONE_FAULT_IN = 20
_CORRECTED = 3
_OTHER_VERSION = "0.0.1"
_POLL_SECONDS = 0.05
_WORKER_LIMIT, _TOO_MUCH_BYTES = "400MiB", 512 << 20
_BUCKET, _STAND_IN = "season", "test.organiser.rescoring.stand_in_s3"
_PRELOAD, _EXHAUSTED = "DASK_DISTRIBUTED__WORKER__PRELOAD", "SEASON_EXHAUSTED"


@dataclass(frozen=True)
class Run:
    """A finished run: its exit status, lines, seconds, and the peak memory of the main process in MB."""

    status: int
    lines: tuple[str, ...]
    seconds: float
    peak_megabytes: float


@dataclass(frozen=True)
class Half:
    """A phase with its submissions: how many there are, and how many have a fault."""

    name: str
    phase: Path
    teams: Path
    submissions: int
    faulty: int


def dask_setup(worker: Any) -> None:
    """Use more memory than this worker may, once, during its first task. Dask calls it in a new worker."""
    threading.Thread(target=_exhaust, args=(worker, Path(os.environ[_EXHAUSTED])), daemon=True).start()


def _exhaust(worker: Any, mark: Path) -> None:
    while not worker.state.executing_count:
        time.sleep(_POLL_SECONDS)
    with suppress(FileExistsError), mark.open("x"):
        held = b"x" * _TOO_MUCH_BYTES
        while held:
            time.sleep(_POLL_SECONDS)


def main() -> None:
    """Run the season and print its figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--submissions", type=int, default=1000)
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="write everything here, and keep it")
    arguments = parser.parse_args()
    if arguments.submissions < 2 * _ONE_FAULT_IN:
        parser.error(f"--submissions: expected at least {2 * _ONE_FAULT_IN}")
    with tempfile.TemporaryDirectory() as temporary:
        season = Season((arguments.keep or Path(temporary)).resolve(), arguments.submissions)
        season.run()
    for fault in season.faults:
        print(f"WRONG: {fault}")
    sys.exit(1 if season.faults else 0)


class Season:
    """The phases and submissions below a folder, the runs over them, and the outcomes that were wrong."""

    def __init__(self, folder: Path, submissions: int) -> None:
        self.faults: list[str] = []
        self._folder = folder
        self._bucket = folder / "buckets" / _BUCKET
        started = time.perf_counter()
        sizes = (submissions - submissions // 2, submissions // 2)
        self._refuge, self._justraigs = self._halves = (
            _write_refuge(self._bucket, sizes[0]),
            _write_justraigs(self._bucket, sizes[1]),
        )
        self._submissions = submissions
        self._faulty = sum(half.faulty for half in self._halves)
        self._scored = submissions - self._faulty
        self._environment = {**os.environ, **_stand_in(folder)}
        print(f"{submissions} submissions written in {time.perf_counter() - started:.0f} s")
        print(f"{'':<58} {'seconds':>8} {'peak MB':>8}", flush=True)

    def run(self) -> None:
        """Run everything."""
        before = self._on_this_machine()
        self._on_a_troubled_cluster(before)
        cases = _correct(self._refuge.phase)
        now = self._with_corrected_labels(before, cases)
        self._in_three_shares(now)
        run = self._evaluate("the same again: all kept", "now", *self._each())
        self._check_counts(run, kept=self._submissions)
        self._check_bytes(run, now, _results(self._folder / "now"))

    def _on_this_machine(self) -> dict[str, str]:
        run = self._evaluate("this machine", "before", *self._each())
        self._check_counts(run, scored=self._scored, rejected=self._faulty)
        return _results(self._folder / "before")

    def _on_a_troubled_cluster(self, expected: dict[str, str]) -> None:
        other = _of_another_version(self._folder / "other")
        version = {"cwd": str(other), "PYTHONPATH": f"{other}:{self._environment['PYTHONPATH']}"}
        exhausted = {
            _PRELOAD: "['benchmarks.season']",
            _EXHAUSTED: str(self._folder / "exhausted"),
            "DASK_DISTRIBUTED__WORKER__MEMORY__TERMINATE": "0.95",
        }
        scratch = self._folder / "scratch"
        with Dask(scratch, 1, **self._environment) as dask:
            dask.add_worker(**version)
            dask.add_worker(_WORKER_LIMIT, **exhausted)
            dask.wait_for_workers()
            run = self._evaluate(
                "cluster: no memory, another version, s3://",
                "cluster",
                *self._each(f"s3://{_BUCKET}"),
                *("--cluster", dask.address),
            )
            ended = _workers_ended_for_memory(dask.address)
        self._check_counts(run, scored=self._scored, rejected=self._faulty)
        self._check_bytes(run, expected, _results(self._folder / "cluster"))
        self._check(ended == 1, f"expected 1 worker that ended for its memory, found {ended}")
        self._check_names_version(run, [line for line in run.lines if line.startswith("tcp://")], 1)
        read = Counter((self._folder / "read").read_text().splitlines())
        most = max(count for line, count in read.items() if line.endswith(" phase.toml"))
        self._check(most == 2, f"expected each process to read each of 2 phases once, found {most} reads")
        with Dask(scratch, 0, **self._environment) as dask:
            dask.add_worker(**version)
            dask.wait_for_workers()
            share = f"1/{self._submissions // 4}"
            run = self._evaluate(
                "cluster: a worker of another version alone",
                "refused",
                *self._each(),
                *("--cluster", dask.address, "--shard", share),
            )
        refused = [line for line in run.lines if line.startswith("FAILED")]
        self._check_counts(run, status=1, failed=len(refused))
        self._check_names_version(run, refused, max(1, len(refused)))
        written = {Path(name).name for name in _results(self._folder / "refused")}
        self._check(written == {"rejected.txt"}, f"expected reasons and no result, found {sorted(written)}")

    def _with_corrected_labels(self, before: dict[str, str], cases: list[str]) -> dict[str, str]:
        shutil.copytree(self._folder / "before", self._folder / "now")
        run = self._evaluate(
            "three labels corrected, cluster local",
            "now",
            *self._each(),
            *("--cluster", "local", "--workers", "2", "--since", str(self._folder / "before")),
        )
        changed = self._refuge.submissions - self._refuge.faulty
        # The other phase is as it was.
        counts = {"scored": changed, "kept": self._justraigs.submissions, "rejected": self._refuge.faulty}
        self._check_counts(run, lines_below=1 + changed, **counts)
        written = json.loads((self._folder / "now" / "changes.json").read_bytes())
        of_phase = {phase["phase"]: phase["submissions"] for phase in written["phases"]}
        for half, wanted in ((self._refuge, changed), (self._justraigs, 0)):
            moved = [_moved(submission) for submission in of_phase[half.name]]
            found = sum(map(bool, moved))
            self._check(found == wanted, f"{half.name}: expected {wanted} changed results, found {found}")
            others = {name for names in moved for name in names} - set(cases if wanted else ())
            self._check(not others, f"{half.name}: cases moved whose label was not corrected: {others}")
            title = f"{half.name}: {wanted} of {half.submissions} submissions have changed, "
            title += f"{len(cases) if wanted else 0} cases moved"
            self._check(title in run.lines, f"expected the line {title!r}")
        now = _results(self._folder / "now")
        same = {name for name in now if now[name] == before.get(name)}
        kept = {name for name in before if name.startswith(f"{self._justraigs.name}/")}
        kept |= {name for name in before if name.endswith("/rejected.txt")}
        self._check(same == kept, f"expected {len(kept)} files without a change, found {len(same)}")
        return now

    def _in_three_shares(self, expected: dict[str, str]) -> None:
        union: dict[str, str] = {}
        total = 0
        for number in (1, 2, 3):
            name = f"share{number}"
            run = self._evaluate(f"--shard {number}/3", name, *self._each(), "--shard", f"{number}/3")
            share = _results(self._folder / name)
            self._check(not union.keys() & share.keys(), f"{name} repeats results of another share")
            union |= share
            total += sum(_counts(run).values())
        self._check(total == self._submissions, f"expected {self._submissions} in the shares, found {total}")
        self._check_bytes(run, expected, union)

    def _each(self, root: str | None = None) -> Iterator[str]:
        yield "--each"
        for half in self._halves:
            phase, teams = (path.relative_to(self._bucket) for path in (half.phase, half.teams))
            yield f"{root or self._bucket}/{phase}={root or self._bucket}/{teams}"

    def _evaluate(self, title: str, output: str, *arguments: str) -> Run:
        """Run the command and print its figures."""
        command = [sys.executable, "-m", "evaluation", "evaluate", *arguments]
        command += ["--output", str(self._folder / output)]
        log = self._folder / f"{output}.log"
        started, peak = time.perf_counter(), 0
        with log.open("wb") as lines:
            process = subprocess.Popen(
                command, cwd=_REPOSITORY, env=self._environment, stdout=lines, stderr=subprocess.STDOUT
            )
            while process.poll() is None:
                peak = max(peak, _resident_kilobytes(process.pid))
                time.sleep(_POLL_SECONDS)
        seconds = time.perf_counter() - started
        print(f"{title:<58} {seconds:>8.1f} {peak / 1024:>8.0f}", flush=True)
        return Run(process.returncode, tuple(log.read_text().splitlines()), seconds, peak / 1024)

    def _check(self, is_right: bool, words: str) -> None:
        if not is_right:
            self.faults.append(words)

    def _check_counts(self, run: Run, status: int = 0, lines_below: int = 0, **expected: int) -> None:
        found = {kind: count for kind, count in _counts(run).items() if count}
        wanted = {kind: count for kind, count in expected.items() if count}
        told = (run.status, found) == (status, wanted)
        last = "\n    ".join(run.lines[-4 - lines_below :])
        self._check(told, f"expected {wanted} and status {status}, found status {run.status}:\n    {last}")

    def _check_bytes(self, run: Run, expected: dict[str, str], found: dict[str, str]) -> None:
        names = {*expected, *found}
        others = sorted(name for name in names if expected.get(name) != found.get(name))
        shown = ", ".join(others[:3])
        self._check(not others, f"{len(others)} of {len(names)} files differ from the one run: {shown}")

    def _check_names_version(self, run: Run, lines: list[str], wanted: int) -> None:
        versions = f"version {evaluation.__version__} of the package here, {_OTHER_VERSION} there"
        named = sum(versions in line for line in lines)
        self._check(
            named == wanted == max(1, len(lines)), f"expected {wanted} lines with {versions!r}, found {lines}"
        )


def _write_refuge(bucket: Path, count: int) -> Half:
    """Write a phase with zips of 12 small masks, which differ in a likelihood."""
    name, made = "refuge-season", bucket.parent / "refuge"
    options = ("--name", name, "--cases", "12", "--width", "64", "--height", "64", "--glaucoma", "0.5")
    write_sample("refuge", made, name, *options)
    teams = bucket / "refuge"
    teams.mkdir(parents=True)
    for number in range(count):
        team = made / "submissions" / _QUALITIES[number % len(_QUALITIES)]
        with zipfile.ZipFile(teams / f"team{number:05}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(team.rglob("*")):
                data = path.read_bytes() if path.is_file() else b""
                if path.name == "classification_results.csv":
                    head, _, *rest = data.decode().splitlines()
                    risk = "high" if _is_faulty(number) else f"{number / count:.6f}"
                    data = "\n".join([head, f"R0001,{risk}", *rest, ""]).encode()
                if data:
                    archive.writestr(path.relative_to(team).as_posix(), data)
    phase = bucket / "ground-truth" / name
    shutil.copytree(made / "ground-truth" / name, phase)
    return Half(name, phase, teams, count, sum(map(_is_faulty, range(count))))


def _write_justraigs(bucket: Path, count: int) -> Half:
    """Write a phase with folders of the results for 40 eyes in a stack, which differ in a likelihood."""
    name, made = "justraigs-season-phase2", bucket.parent / "justraigs"
    write_sample("justraigs", made, name, "--name", "justraigs-season", *("--cases", "40", "--stack", "40"))
    teams = bucket / "justraigs"
    for number in range(count):
        team = teams / f"team{number:05}"
        shutil.copytree(made / "submissions" / name / _QUALITIES[number % len(_QUALITIES)], team)
        (path,) = team.rglob("multiple-referable-glaucoma-likelihoods.json")
        _, *others = json.loads(path.read_bytes())
        path.write_text(json.dumps(others if _is_faulty(number) else [number / count, *others]))
    phase = bucket / "ground-truth" / name
    shutil.copytree(made / "ground-truth" / name, phase)
    return Half(name, phase, teams, count, sum(map(_is_faulty, range(count))))


def _is_faulty(number: int) -> bool:
    return number % _ONE_FAULT_IN == _ONE_FAULT_IN - 1


def _stand_in(folder: Path) -> dict[str, str]:
    """Announce the stand-in of `s3://` to fsspec, as a package does; return the environment that finds it."""
    plugin = folder / "plugin"
    package = plugin / "stand_in_s3-1.dist-info"
    package.mkdir(parents=True)
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: stand-in-s3\nVersion: 1\n")
    (package / "entry_points.txt").write_text(f"[fsspec.specs]\ns3 = {_STAND_IN}:StandIn\n")
    return {"PYTHONPATH": f"{_REPOSITORY}:{plugin}", "STAND_IN_ROOT": str(folder / "buckets")}


def _of_another_version(folder: Path) -> Path:
    """Copy the package, with another version, into a folder, and return the folder."""
    ignored = shutil.ignore_patterns("__pycache__")
    copy = Path(shutil.copytree(_REPOSITORY / "evaluation", folder / "evaluation", ignore=ignored))
    module = copy / "__init__.py"
    text = module.read_text()
    module.write_text(text.replace(f'"{evaluation.__version__}"', f'"{_OTHER_VERSION}"'))
    return folder


def _workers_ended_for_memory(address: str) -> int:
    from distributed import Client

    with Client(address) as client:
        return len(client.get_events("worker-restart-memory"))


def _correct(phase: Path) -> list[str]:
    """Turn over the labels of the first cases, seal the phase again, and return the names of the cases."""
    path = phase / "cases.csv"
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows[:_CORRECTED]:
        row["glaucoma"] = str(1 - int(row["glaucoma"]))
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    command = [sys.executable, "-m", "evaluation", "seal", str(phase)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return [row["name"] for row in rows[:_CORRECTED]]


def _moved(submission: dict[str, Any]) -> set[str]:
    """Return the names of a submission's cases that moved, of its entry in `changes.json`."""
    return {case["case"] for cases in submission["cases"].values() for case in cases}


def _counts(run: Run) -> dict[str, int]:
    """Return the submissions by result, from the summary of a run; none without a summary."""
    for line in run.lines:
        if re.fullmatch(r"\d+ submissions?: .*", line):
            return {kind: int(count) for count, kind in re.findall(r"(\d+) (\w+)", line.partition(":")[2])}
    return {}


def _results(folder: Path) -> dict[str, str]:
    """Return the digests of all results below a folder by path, without records and the list of changes."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file() and ".kept" not in path.parts and path.name != "changes.json"
    }


if __name__ == "__main__":
    main()
