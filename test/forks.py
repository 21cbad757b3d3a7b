"""Tests in several processes that are forks of one, which has collected them and imported the package.

Four processes that each collect ten thousand tests, with the package prepared for `EVALUATION_BRANCHES`, take
two minutes of processor time before their first test. Forks begin where the first one has come to, and share
its memory, the server of `test.started` included.
"""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from typing import Any

import pytest

Group = list[pytest.Item]
PROCESS = "process"
"""How the names of the processes begin, and of their temporary folders."""


class Forks:
    """A plugin of pytest that runs the tests of a session in forks of its process.

    ``scope`` names the group of a test, by its identifier: one process runs a group, so that what its tests
    share is made once. A process takes the next group when it has run one. ``ended`` is called in each
    process with its name.
    """

    def __init__(self, number: int, scope: Callable[[str], str], ended: Callable[[str], None]) -> None:
        self._number = number
        self._scope = scope
        self._ended = ended

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Run all tests, unless they are only to be listed, or could not be collected."""
        if session.config.option.collectonly or session.testsfailed:
            return None
        groups = [list(group) for _, group in groupby(session.items, lambda item: self._scope(item.nodeid))]
        session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
        if started := sys.modules.get("test.started"):
            started._server()
        sys.stdout.flush()
        sys.stderr.flush()
        gc.collect()
        gc.freeze()  # what was collected is looked through no more
        running = self._started(session, groups)
        try:
            self._follow(session, running)
        finally:
            for fork in running:
                fork.end()
        return True

    def _started(self, session: pytest.Session, groups: list[Group]) -> list[_Fork]:
        taken, offered = os.pipe()
        # A number is read as a whole; a pipe holds thousands.
        os.write(offered, b"".join(number.to_bytes(4, "little") for number in range(len(groups))))
        os.close(offered)
        running: list[_Fork] = []
        for number in range(min(self._number, len(groups))):
            reports, tell = Pipe(duplex=False)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of threads of libraries, which wait for work
                process = os.fork()
            if process == 0:
                reports.close()
                _be_a_fork(session, f"{PROCESS}{number}", _taken(taken, groups), tell, self._ended)
            tell.close()
            running.append(_Fork(process, reports))
        os.close(taken)
        return running

    def _follow(self, session: pytest.Session, running: list[_Fork]) -> None:
        """Report what the forks report, until all have ended or one test too many has failed."""
        hook = session.config.hook
        while left := [fork for fork in running if not fork.is_done]:
            ready = wait([fork.reports for fork in left], timeout=10)
            for fork in left:
                if fork.reports not in ready:
                    # A process that a test left behind may hold its end of the pipe.
                    if os.waitid(os.P_PID, fork.process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                        raise RuntimeError(f"a process of the tests ended while it ran {fork.test}")
                    continue
                try:
                    name, content = fork.reports.recv()
                except EOFError:
                    raise RuntimeError(f"a process of the tests ended while it ran {fork.test}") from None
                if name == "start":
                    fork.test = content
                elif name == "report":
                    report = hook.pytest_report_from_serializable(config=session.config, data=content)
                    hook.pytest_runtest_logreport(report=report)
                elif name == "done":
                    fork.is_done = True
                else:
                    raise RuntimeError(f"of a process of the tests:\n{content}")
            if session.shouldfail:
                raise session.Failed(session.shouldfail)
            if session.shouldstop:
                raise session.Interrupted(session.shouldstop)


@dataclass
class _Fork:
    """A process, what it reports, and the test that it began last."""

    process: int
    reports: Connection
    test: str = "none"
    is_done: bool = False

    def end(self) -> None:
        """Stop the process unless it has ended."""
        if not self.is_done:
            with suppress(ProcessLookupError):
                os.kill(self.process, signal.SIGTERM)
        self.reports.close()
        os.waitpid(self.process, 0)


def _taken(numbers: int, groups: list[Group]) -> Iterator[Group]:
    """Yield groups that no other process has taken."""
    while number := os.read(numbers, 4):
        yield groups[int.from_bytes(number, "little")]


class _Reporter:
    """A plugin of pytest that hands reports to the first process."""

    def __init__(self, config: pytest.Config, tell: Connection) -> None:
        self._config = config
        self._tell = tell

    def tell(self, name: str, content: Any = None) -> None:
        self._tell.send((name, content))

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.tell("start", nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        content = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        self.tell("report", content)


def _be_a_fork(
    session: pytest.Session,
    name: str,
    groups: Iterator[Group],
    tell: Connection,
    ended: Callable[[str], None],
) -> None:
    """Run the tests of groups with temporary folders and captured streams of its own, and end the process."""
    atexit._clear()
    config = session.config
    reporter = _Reporter(config, tell)
    status = 1
    try:
        factory = config._tmp_path_factory  # type: ignore[attr-defined]
        factory._basetemp = factory.getbasetemp() / name
        factory._basetemp.mkdir()
        manager = config.pluginmanager
        if (capture := manager.getplugin("capturemanager")) is not None:
            capture.stop_global_capturing()
            capture.start_global_capturing()
            capture.suspend_global_capture()
        manager.unregister(name="terminalreporter")
        manager.register(reporter)
        _run(session, groups)
        ended(name)
        reporter.tell("done")
        status = 0
    except BaseException:
        reporter.tell("error", traceback.format_exc())
    atexit._run_exitfuncs()
    os._exit(status)


def _run(session: pytest.Session, groups: Iterator[Group]) -> None:
    for group in groups:
        # What comes after the last test is not known while it runs: what belongs to the session stays.
        for item, after in zip(group, [*group[1:], session], strict=True):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
    session._setupstate.teardown_exact(None)
