"""A pytest plugin that writes one line a test, "outcome<TAB>node id<TAB>message", to the file $SOLUM_OUTCOMES.

Lines are flushed at once, so that a crash of the process leaves the tests before it on record; a test
that began and did not end is the one that crashed. The tests in the file $SOLUM_LEFT_OUT, one node id or pattern (* and ?)
a line, are not run. A test that takes longer than $SOLUM_TEST_SECONDS ends the process by SIGALRM.
"""
import os
import pathlib
import signal

import pytest
from run_suite import matcher

_file = open(os.environ["SOLUM_OUTCOMES"], "a", buffering=1)
_left_out = set(pathlib.Path(os.environ["SOLUM_LEFT_OUT"]).read_text().splitlines())
_patterns = [matcher(line) for line in _left_out if set(line) & set("*?")]
_seconds = int(os.environ["SOLUM_TEST_SECONDS"])
_outcome, _message = {}, {}


def _crash_message(report):
    crash = getattr(report.longrepr, "reprcrash", None)
    return " ".join(str(crash.message if crash else report.longrepr).split())[:200]


def _is_left_out(item):
    return item.nodeid in _left_out or any(pattern.fullmatch(item.nodeid) for pattern in _patterns)


def pytest_collection_modifyitems(config, items):
    left_out = [item for item in items if _is_left_out(item)]
    if left_out:
        items[:] = [item for item in items if not _is_left_out(item)]
        config.hook.pytest_deselected(items=left_out)


def pytest_collectreport(report):
    if report.failed:
        _file.write(f"failed\t{report.nodeid}\t{_crash_message(report)}\n")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logstart(nodeid, location):
    _file.write(f"began\t{nodeid}\t\n")
    # The default action ends the process even while native code runs, which never returns to Python's handlers.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(_seconds)


def pytest_runtest_logreport(report):
    # setup, call and teardown report one after another: the worst of them counts.
    rank = {"passed": 0, "skipped": 1, "failed": 2}
    outcome = report.outcome
    if hasattr(report, "wasxfail"):
        outcome = "skipped"
    if outcome == "failed":
        _message.setdefault(report.nodeid, _crash_message(report))
    seen = _outcome.get(report.nodeid, "passed")
    _outcome[report.nodeid] = max(seen, outcome, key=rank.get)
    if report.when == "teardown":
        signal.alarm(0)
        _file.write(f"{_outcome.pop(report.nodeid)}\t{report.nodeid}\t{_message.pop(report.nodeid, '')}\n")
