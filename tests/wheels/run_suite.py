"""Runs a wheel's own pytest files under `solum run`, one process a file, against a list of expectations.

The lists lie in expect/: SUITE-DEVICE.txt holds lines "fail<TAB>node id<TAB>reason" for tests that are
known not to pass on that device, "skip<TAB>pattern<TAB>reason" for tests of the baseline that skip themselves there
(* and ? as in a shell), "varies<TAB>pattern<TAB>reason" for tests that the package itself makes fail now and then,
for example by a race, and "pass<TAB>file<TAB>count" for how many tests of a file pass at least, without those. A test whose reason
begins with "not run:" hangs, ends its process, or takes too long; its id may be a pattern. SUITE-baseline.txt, where there
is one, names every test that has to pass unless it is listed.

A process that crashes or hangs in one test is followed by another that runs the tests after it.

With --check the tests run under `solum check`. SUITE-check.txt has lines "KIND<TAB>file<TAB>kernel<TAB>reason" for the mistakes
that are known, the kernel as a pattern: others fail the run, and so does a line whose mistake its file no longer shows.

Exit code 0: everything as expected. 1: a test failed that is not listed, a test crashed, a listed test passed (take its
line out), or fewer tests passed than the list promises.
"""
import argparse
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent


@dataclasses.dataclass(frozen=True)
class Suite:
    # Folders below site-packages whose test files belong to the suite, and those below them that do not.
    folders: tuple
    without: tuple = ()
    # Without --files: these by name, or all.
    usual: str = ""
    # The device types that a test may ask for, and what `solum run --as` shows for each.
    shown: dict = dataclasses.field(default_factory=lambda: {"cpu": "cpu", "gpu": "gpu"})
    pytest: tuple = ()
    environment: dict = dataclasses.field(default_factory=dict)


SUITES = {
    "dpctl": Suite(
        folders=("dpctl/tests",),
        usual="headers raw_kernel_arg service sycl_context sycl_device sycl_device_factory sycl_event "
        "sycl_kernel_submit sycl_platform sycl_program sycl_queue sycl_queue_manager sycl_queue_memcpy "
        "sycl_timer sycl_usm utils work_group_memory work_group_memory_opencl",
    ),
    "dpnp": Suite(
        folders=("dpnp/tests",),
        usual="arraycreation sum product indexing sort search histogram random_state bitwise flipping copy "
        "fill memory special",
    ),
    "sklearnex": Suite(
        folders=("sklearnex", "onedal"),
        # They need MPI and its Python package; without it each of them skips itself.
        without=("sklearnex/spmd", "onedal/spmd"),
        # Data of a test may lie on the CPU device while oneDAL computes on the GPU device.
        shown={"gpu": "both"},
        # A test is one of the GPU device by its parameters, which are part of its id.
        pytest=("-k", "gpu"),
        environment={"SCIPY_ARRAY_API": "1"},
    ),
}


def read_expectations(path, baseline):
    known, skips, varies, least = {}, {}, {}, {}
    for number, line in enumerate(path.read_text().splitlines() if path.exists() else [], 1):
        if not line or line.startswith("#"):
            continue
        kind, what, rest = (line.split("\t") + ["", ""])[:3]
        if kind == "fail" and rest:
            known[what] = rest
        elif kind == "skip" and rest:
            skips[what] = rest
        elif kind == "varies" and rest:
            varies[what] = rest
        elif kind == "pass" and rest.isdigit():
            least[what] = int(rest)
        else:
            sys.exit(f"{path.name}:{number}: no 'fail<TAB>id<TAB>reason', 'skip<TAB>pattern<TAB>reason', 'varies<TAB>pattern<TAB>reason' or "
                     "'pass<TAB>file<TAB>count'")
    required = set(baseline.read_text().splitlines()) if baseline.exists() else set()
    return known, skips, varies, least, required


def read_mistakes(path):
    """Lines of SUITE-check.txt: (kind, file, pattern of the kernel, reason)."""
    lines = [line.split("\t") for line in path.read_text().splitlines() if line and not line.startswith("#")] if path.exists() else []
    for line in lines:
        if len(line) != 4:
            sys.exit(f"{path.name}: no 'KIND<TAB>file<TAB>kernel<TAB>reason': {line}")
    return lines


def compare_mistakes(known, files, found):
    """What is wrong with `found`, (file, kind, kernel, place) of each mistake, when `files` have run."""
    wrong, seen = [], set()
    for file, kind, kernel, place in sorted(found):
        fits = [index for index, (k, f, pattern, _) in enumerate(known) if (k, f) == (kind, file) and matcher(pattern).fullmatch(kernel)]
        seen.update(fits)
        if not fits:
            wrong.append(f"{file}: {kind} in {kernel} at {place}")
    for index, (kind, file, pattern, _) in enumerate(known):
        if file in files and index not in seen:
            wrong.append(f"not found any more, take its line out of the list: {kind} {file} {pattern}")
    return wrong


def mistakes_of(file, text):
    """The exit code of the program, and its mistakes, from the document of `solum check --json`."""
    document = json.loads(text)
    if "error" in document:
        # No test of the file used the device.
        return document.get("program_exit_code", 0), set()
    mistakes = set()
    for finding in document["findings"]:
        frames = (finding.get("access") or {}).get("frames") or [{}]
        place = f"{frames[0].get('file', '')}:{frames[0].get('line', 0)}, word {(finding.get('access') or {}).get('word', 0)}"
        mistakes.add((file, finding["kind"], finding.get("kernel", ""), place))
    return document["program_exit_code"], mistakes


def matcher(pattern):
    return re.compile(re.escape(pattern).replace(r"\*", ".*").replace(r"\?", "."))


def write_expectations(path, title, known, skips, varies, least):
    lines = [f"# {title}; see run_suite.py."]
    lines += [f"pass\t{file}\t{count}" for file, count in sorted(least.items()) if count]
    lines += [f"skip\t{pattern}\t{reason}" for pattern, reason in skips.items()]
    lines += [f"varies\t{pattern}\t{reason}" for pattern, reason in varies.items()]
    lines += [f"fail\t{test}\t{reason}" for test, reason in sorted(known.items())]
    path.write_text("\n".join(lines) + "\n")


def short_name(suite, file):
    """`dpnp/tests/tensor/test_x.py` is tensor/x of dpnp; `sklearnex/svm/tests/test_svm.py` is sklearnex/svm/svm."""
    name = file.removesuffix(".py")
    if len(suite.folders) == 1:
        name = name.removeprefix(suite.folders[0] + "/")
    *folders, last = name.split("/")
    return "/".join([part for part in folders if part != "tests"] + [last.removeprefix("test_")])


def chosen_files(suite, site, words):
    """Files by short name, by folder, or all of them."""
    found = sorted(str(path.relative_to(site)) for folder in suite.folders for path in (site / folder).rglob("test_*.py"))
    names = {short_name(suite, file): file for file in found if not file.startswith(tuple(f"{folder}/" for folder in suite.without))}
    if words == ["all"]:
        return list(names.values())
    files = []
    for word in words:
        matching = [file for name, file in names.items() if name == word or name.startswith(word + "/")]
        if not matching:
            sys.exit(f"no file or folder '{word}'; there are: {' '.join(names)}")
        files += [file for file in matching if file not in files]
    return files


def run_process(arguments, site, suite, file, left_out, seconds):
    """One process: outcomes and messages by test id, the test that ended it (if one did), its exit code, its output."""
    outcomes, messages = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        report, leave = pathlib.Path(folder) / "outcomes", pathlib.Path(folder) / "left_out"
        leave.write_text("\n".join(sorted(left_out)))
        environment = dict(os.environ, **suite.environment, SOLUM_OUTCOMES=str(report), SOLUM_LEFT_OUT=str(leave),
                           SOLUM_TEST_SECONDS=str(arguments.test_timeout), PYTHONPATH=str(HERE))
        wrapper = ["check", "--json"] if arguments.check else ["run"]
        command = [arguments.solum, *wrapper, "--as", suite.shown[arguments.device], "--", arguments.python, "-m", "pytest", "-q",
                   "-p", "solum_report", "-p", "no:cacheprovider", "--tb=short", *suite.pytest, file]
        try:
            done = subprocess.run(command, cwd=site, env=environment, timeout=seconds, text=True, errors="replace",
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE if arguments.check else subprocess.STDOUT)
            output, code = done.stdout, done.returncode
            if arguments.check:
                output = done.stderr
                code, mistakes = mistakes_of(file, done.stdout)
                arguments.mistakes |= mistakes
        except subprocess.TimeoutExpired as late:
            output, code = f"{(late.stdout or b'').decode(errors='replace')}\ntimed out after {seconds:.0f} s", -1
        began = None
        for line in report.read_text().splitlines() if report.exists() else []:
            outcome, test, message = line.split("\t", 2)
            if outcome == "began":
                began = test
            else:
                began = None if began == test else began
                outcomes[test] = outcome
                if message:
                    messages[test] = message
    return outcomes, messages, began, code, output


def run_file(arguments, site, suite, file, left_out):
    """Outcomes of one file and messages by test id, the seconds, and the output."""
    outcomes, messages, output = {}, {}, ""
    began = time.monotonic()
    while True:
        seconds = max(arguments.timeout - (time.monotonic() - began), 1)
        found, said, ended, code, text = run_process(arguments, site, suite, file, left_out | outcomes.keys(), seconds)
        outcomes.update(found)
        messages.update(said)
        output += text
        # 5 = no test collected; 0 and 1 = ran to the end.
        if code in (0, 1, 5):
            break
        test = ended or f"{file} (exit code {code})"
        outcomes[test] = "crashed"
        messages[test] = f"it ends its process: exit code {code}"
        if ended is None or time.monotonic() - began > arguments.timeout:
            break
    return outcomes, messages, time.monotonic() - began, output


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("suite", choices=SUITES)
    parser.add_argument("device", choices=("cpu", "gpu"))
    parser.add_argument("--solum", required=True, help="the solum program")
    parser.add_argument("--python", required=True, help="the virtual environment's python")
    parser.add_argument("--files", help="only these, by name without tests/, test_ and .py, or by folder, comma-separated; or all")
    parser.add_argument("--timeout", type=int, default=1800, help="seconds a file may take")
    parser.add_argument("--test-timeout", type=int, default=300, help="seconds a test may take")
    parser.add_argument("--record", action="store_true", help="write the expectations of these files from this run")
    parser.add_argument("--check", action="store_true", help="run under solum check, and compare the mistakes with the list")
    parser.add_argument("--verbose", action="store_true", help="print the output of files with failures")
    arguments = parser.parse_args()
    arguments.mistakes = set()
    suite = SUITES[arguments.suite]
    if arguments.device not in suite.shown:
        parser.error(f"{arguments.suite} has tests for: {', '.join(suite.shown)}")
    site = pathlib.Path(subprocess.check_output([arguments.python, "-c", "import site; print(site.getsitepackages()[0])"], text=True).strip())
    path = HERE / "expect" / f"{arguments.suite}-{arguments.device}.txt"
    title = f"{arguments.suite} on the {arguments.device}-typed device"
    known, skips, varies, least, required = read_expectations(path, HERE / "expect" / f"{arguments.suite}-baseline.txt")
    files = chosen_files(suite, site, arguments.files.split(",") if arguments.files else suite.usual.split() or ["all"])
    matchers = [matcher(pattern) for pattern in varies]
    may_vary = lambda test: any(pattern.fullmatch(test) for pattern in matchers)
    outcomes, messages, wrong = {}, {}, []
    for file in files:
        of_file = {test: reason for test, reason in known.items() if test.split("::")[0].split(" ")[0] == file}
        not_run = {test for test, reason in of_file.items() if reason.startswith("not run:")}
        found, said, seconds, output = run_file(arguments, site, suite, file, not_run)
        outcomes.update(found)
        messages.update(said)
        count = {kind: sum(o == kind for o in found.values()) for kind in ("passed", "failed", "skipped", "crashed")}
        print(f"{file:<72} {count['passed']:6} passed {count['failed']:4} failed {count['skipped']:5} skipped"
              f" {count['crashed']:3} crashed {len(not_run):3} not run {seconds:7.1f} s", flush=True)
        if count["passed"] < least.get(file, 0) and not arguments.record:
            wrong.append(f"{file}: {count['passed']} passed, {least[file]} are promised")
        if arguments.verbose and count["failed"] + count["crashed"]:
            print(output[-6000:])
        if arguments.record:
            # After each file, so that a run that is stopped has recorded the files before.
            least[file] = sum(outcome == "passed" and not may_vary(test) for test, outcome in found.items())
            known = {test: reason for test, reason in known.items() if test not in of_file or test in not_run}
            for test, outcome in found.items():
                unknown = f"not looked into yet: {said.get(test, '')}"
                if outcome == "crashed":
                    known[test] = f"not run: {unknown}"
                elif outcome == "failed" and not may_vary(test):
                    known[test] = of_file.get(test, unknown)
            write_expectations(path, title, known, skips, varies, least)
    passed = sum(o == "passed" for o in outcomes.values())
    if arguments.record:
        print(f"written: {path.name}")
        return 0
    for test, outcome in sorted(outcomes.items()):
        if outcome == "crashed" or outcome == "failed" and test not in known and not may_vary(test):
            wrong.append(f"{outcome}: {test}: {messages.get(test, '')}")
        if outcome == "passed" and test in known:
            wrong.append(f"passes, take its line out of the list: {test}")
    skipping = {pattern: matcher(pattern) for pattern in skips}
    used = set()
    for test in sorted(required):
        if test.split("::")[0] not in files or test in known or outcomes.get(test) in ("passed", "failed", "crashed"):
            continue
        pattern = next((p for p, pattern in skipping.items() if pattern.fullmatch(test)), None)
        if pattern and outcomes.get(test) == "skipped":
            used.add(pattern)
        else:
            wrong.append(f"{outcomes.get(test, 'not collected')}, but passes on the baseline: {test}")
    if not arguments.files:
        wrong += [f"no test of the baseline skips by it, take the line out: {p}" for p in skips if p not in used]
    if required:
        have = sum(outcomes.get(test) == "passed" for test in required)
        print(f"baseline: {have} of {len(required)} pass")
    if arguments.check:
        wrong += compare_mistakes(read_mistakes(HERE / "expect" / f"{arguments.suite}-check.txt"), files, arguments.mistakes)
        print(f"solum check: {len(arguments.mistakes)} mistakes")
    for line in wrong[:60]:
        print(f"  {line}")
    if len(wrong) > 60:
        print(f"  and {len(wrong) - 60} more")
    # The plain closing line: tests that fail as listed are not counted as failed.
    print(f"{arguments.suite} on {arguments.device}:")
    print(f"{passed} passed, {len(wrong)} failed")
    return 1 if wrong or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
