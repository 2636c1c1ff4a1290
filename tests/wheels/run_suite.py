"""Runs a wheel's own pytest files under `solum run`, one process a file, against a list of expectations.

The lists lie in expect/: SUITE-DEVICE.txt holds lines "fail<TAB>node id<TAB>reason" for tests that are
known not to pass on that device, "skip<TAB>pattern<TAB>reason" for tests of the baseline that skip themselves there
(* and ? as in a shell), and "pass<TAB>file<TAB>count" for how many tests of a file pass at least.
SUITE-baseline.txt, where there is one, names every test that has to pass unless it is listed.

Exit code 0: everything as expected. 1: a test failed that is not listed, a listed test passed (take its
line out), or fewer tests passed than the list promises.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
FILES = {
    "dpctl": "headers raw_kernel_arg service sycl_context sycl_device sycl_device_factory sycl_event "
    "sycl_kernel_submit sycl_platform sycl_program sycl_queue sycl_queue_manager sycl_queue_memcpy "
    "sycl_timer sycl_usm utils work_group_memory work_group_memory_opencl",
    "dpnp": "arraycreation sum product indexing sort search histogram random_state bitwise flipping copy "
    "fill memory special",
}


def read_expectations(suite, device):
    known, skips, least = {}, {}, {}
    path = HERE / "expect" / f"{suite}-{device}.txt"
    for number, line in enumerate(path.read_text().splitlines() if path.exists() else [], 1):
        if not line or line.startswith("#"):
            continue
        kind, what, rest = (line.split("\t") + ["", ""])[:3]
        if kind == "fail" and rest:
            known[what] = rest
        elif kind == "skip" and rest:
            skips[what] = rest
        elif kind == "pass" and rest.isdigit():
            least[what] = int(rest)
        else:
            sys.exit(f"{path.name}:{number}: no 'fail<TAB>id<TAB>reason', 'skip<TAB>pattern<TAB>reason' or 'pass<TAB>file<TAB>count'")
    baseline = HERE / "expect" / f"{suite}-baseline.txt"
    required = set(baseline.read_text().splitlines()) if baseline.exists() else set()
    return known, skips, least, required


def run_file(arguments, site, suite, name, deselect):
    """Outcomes of one file by test id, the run's seconds, and its output."""
    outcomes = {}
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "outcomes"
        environment = dict(os.environ, SOLUM_OUTCOMES=str(report), PYTHONPATH=str(HERE))
        command = [arguments.solum, "run", "--as", arguments.device, "--", arguments.python, "-m", "pytest", "-q",
                   "-p", "solum_report", "-p", "no:cacheprovider", "--tb=short", f"{suite}/tests/test_{name}.py"]
        command += [part for test in deselect for part in ("--deselect", test)]
        began = time.monotonic()
        try:
            done = subprocess.run(command, cwd=site, env=environment, timeout=arguments.timeout, text=True,
                                  errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            output, code = done.stdout, done.returncode
        except subprocess.TimeoutExpired as late:
            output, code = f"{late.stdout or ''}\ntimed out after {arguments.timeout} s", -1
        for line in report.read_text().splitlines() if report.exists() else []:
            outcome, test = line.split("\t", 1)
            outcomes[test] = "crashed" if outcome == "began" else outcome
    # 5 = no test collected; 0 and 1 = ran to the end.
    if code not in (0, 1, 5):
        outcomes[f"{suite}/tests/test_{name}.py (exit code {code})"] = "crashed"
    return outcomes, time.monotonic() - began, output


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("suite", choices=FILES)
    parser.add_argument("device", choices=("cpu", "gpu"))
    parser.add_argument("--solum", required=True, help="the solum program")
    parser.add_argument("--python", required=True, help="the virtual environment's python")
    parser.add_argument("--files", help="only these, by name without test_ and .py, comma-separated")
    parser.add_argument("--timeout", type=int, default=1800, help="seconds a file may take")
    parser.add_argument("--record", action="store_true", help="write the expectations from this run")
    parser.add_argument("--verbose", action="store_true", help="print the output of files with failures")
    arguments = parser.parse_args()
    site = subprocess.check_output([arguments.python, "-c", "import site; print(site.getsitepackages()[0])"], text=True).strip()
    known, skips, least, required = read_expectations(arguments.suite, arguments.device)
    names = arguments.files.split(",") if arguments.files else FILES[arguments.suite].split()
    outcomes, wrong, recorded = {}, [], []
    for name in names:
        file = f"{arguments.suite}/tests/test_{name}.py"
        # A listed test that hangs or kills its process is not run: its reason says so.
        deselect = [test for test, reason in known.items() if test.startswith(file) and reason.startswith("not run:")]
        found, seconds, output = run_file(arguments, site, arguments.suite, name, deselect)
        outcomes.update(found)
        count = {kind: sum(o == kind for o in found.values()) for kind in ("passed", "failed", "skipped", "crashed")}
        print(f"{file:<48} {count['passed']:6} passed {count['failed']:4} failed {count['skipped']:5} skipped"
              f" {count['crashed']:3} crashed {seconds:7.1f} s", flush=True)
        if count["passed"] < least.get(file, 0) and not arguments.record:
            wrong.append(f"{file}: {count['passed']} passed, {least[file]} are promised")
        recorded.append(f"pass\t{file}\t{count['passed']}")
        if arguments.verbose and count["failed"] + count["crashed"]:
            print(output[-6000:])
    for test, outcome in sorted(outcomes.items()):
        if outcome in ("failed", "crashed") and test not in known:
            wrong.append(f"{outcome}: {test}")
        if outcome == "passed" and test in known:
            wrong.append(f"passes, take its line out of the list: {test}")
    ran = {f"{arguments.suite}/tests/test_{name}.py" for name in names}
    matchers = {pattern: re.compile(re.escape(pattern).replace(r"\*", ".*").replace(r"\?", ".")) for pattern in skips}
    used = set()
    for test in sorted(required):
        if test.split("::")[0] not in ran or test in known or outcomes.get(test) in ("passed", "failed", "crashed"):
            continue
        pattern = next((p for p, matcher in matchers.items() if matcher.fullmatch(test)), None)
        if pattern and outcomes.get(test) == "skipped":
            used.add(pattern)
        else:
            wrong.append(f"{outcomes.get(test, 'not collected')}, but passes on the baseline: {test}")
    if not arguments.files:
        wrong += [f"no test of the baseline skips by it, take the line out: {p}" for p in skips if p not in used]
    passed = sum(o == "passed" for o in outcomes.values())
    if required:
        have = sum(outcomes.get(test) == "passed" for test in required)
        print(f"baseline: {have} of {len(required)} pass")
    if arguments.record:
        path = HERE / "expect" / f"{arguments.suite}-{arguments.device}.txt"
        fails = [f"fail\t{t}\t{known.get(t, 'not looked into yet')}" for t, o in sorted(outcomes.items()) if o in ("failed", "crashed")]
        fails += [f"fail\t{t}\t{r}" for t, r in sorted(known.items()) if r.startswith("not run:") and t not in outcomes]
        path.write_text("\n".join([f"# {arguments.suite} on the {arguments.device}-typed device; see run_suite.py.", *recorded, *(f"skip\t{p}\t{r}" for p, r in skips.items()), *fails]) + "\n")
        print(f"written: {path.name}")
        return 0
    for line in wrong[:60]:
        print(f"  {line}")
    if len(wrong) > 60:
        print(f"  and {len(wrong) - 60} more")
    # The plain closing line: what is listed and fails as listed is not counted as failed.
    print(f"{arguments.suite} on {arguments.device}:")
    print(f"{passed} passed, {len(wrong)} failed")
    return 1 if wrong or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
