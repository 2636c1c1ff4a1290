"""A pytest plugin that writes one line a test, "outcome<TAB>node id", to the file $SOLUM_OUTCOMES.

Lines are flushed at once, so that a crash of the process leaves the tests before it on record; a test
that began and did not end is the one that crashed.
"""
import os

_file = open(os.environ["SOLUM_OUTCOMES"], "a", buffering=1)
_outcome = {}


def pytest_collectreport(report):
    if report.failed:
        _file.write(f"failed\t{report.nodeid}\n")


def pytest_runtest_logstart(nodeid, location):
    _file.write(f"began\t{nodeid}\n")


def pytest_runtest_logreport(report):
    # setup, call and teardown report one after another: the worst of them counts.
    rank = {"passed": 0, "skipped": 1, "failed": 2}
    outcome = report.outcome
    if hasattr(report, "wasxfail"):
        outcome = "skipped"
    seen = _outcome.get(report.nodeid, "passed")
    _outcome[report.nodeid] = max(seen, outcome, key=rank.get)
    if report.when == "teardown":
        _file.write(f"{_outcome.pop(report.nodeid)}\t{report.nodeid}\n")
