"""Runs built Level Zero conformance or stress programs over Solum, in parallel and with time limits, against expectations.

DIR holds the programs (`test_*`, GoogleTest) beside the kernels they read. Each area is one program. expect/AREA.txt
says what is known, one line each, `*` and `?` in patterns as in a shell:
  fail<TAB>pattern<TAB>reason    these tests do not pass; "not run: ..." keeps them from being started
  crash<TAB>pattern<TAB>reason   these tests kill their process or do not end
  without<TAB>facility<TAB>pattern<TAB>reason  these tests do not pass on a machine that lacks the facility (FACILITIES below)
  skip<TAB>pattern<TAB>reason    these tests may skip themselves
  pass<TAB>count                 at least this many tests of the area pass
  none<TAB>reason                the program has no test
  env<TAB>NAME=VALUE             the area runs with that variable
  argument<TAB>TEXT<TAB>reason   the program is started with that argument
  seconds<TAB>count<TAB>reason   so long each of its tests may take
  serial<TAB>reason              no other serial area runs at the same time, also of other runs on this machine, and
                                 this one in one process
  with<TAB>pattern<TAB>NAME=VALUE  these tests run with that variable, apart from others
  single<TAB>pattern<TAB>reason  each of these tests runs in a separate process
  timing<TAB>pattern<TAB>reason  these tests compare times: they run last, one by one, ahead of all other programs of
                                 the machine where the system allows that (SCHED_FIFO), and may try again

Without names all areas run but `test_stress_*`, whose tests fill the memory for hours. An interrupt ends the run as
--minutes does, with results; a second one ends it at once.

Exit code 0: everything as expected. 1: a test fails or skips that is not listed, a listed one passes (take its line
out), or fewer tests pass than promised. A test that kills its process or exceeds its time has crashed, which a line
`fail` does not allow; the rest of its batch goes on in a new process. What fails in company is tried again alone: some
tests measure times.
"""
import argparse
import concurrent.futures
import contextlib
import datetime
import fcntl
import functools
import json
import os
import pathlib
import platform
import re
import selectors
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
BATCH = 150
# More failures than this do not depend on other tests of the batch.
AGAIN = 100
# Processes of one test: some go on as if they were the whole program when an assertion fails in a child of theirs.
CROWD = 200
# How often a test that compares times is tried.
TRIES = 5
LIBRARIES = ("libze_loader.so.1", "libze_solum_cpu.so.1", "libsolum_codegen.so.1")
EVENT = re.compile(r"\[( RUN      |       OK |  FAILED  |  SKIPPED )\] ([^\s,(]+)")
OUTCOME = {"       OK ": "passed", "  FAILED  ": "failed", "  SKIPPED ": "skipped"}


def has_file(pattern, mode=os.R_OK):
    """Whether a file below / matches that may be read, or written."""
    return any(os.access(path, mode) for path in pathlib.Path("/").glob(pattern))


def has_thermometer():
    """Whether there is one that the driver takes for the processor's: crates/ze-cpu/src/telemetry/temperature.rs."""
    chips = {"coretemp", "k10temp", "k8temp", "zenpower", "cpu_thermal", "via_cputemp"}
    zones = {"x86_pkg_temp", "cpu-thermal", "acpitz"}
    for pattern, names in (("sys/class/hwmon/hwmon*/name", chips), ("sys/class/thermal/thermal_zone*/type", zones)):
        for path in pathlib.Path("/").glob(pattern):
            with contextlib.suppress(OSError):
                if path.read_text().strip() in names:
                    return True
    return False


# Parts that virtual machines lack: the names for lines `without`, and how to detect them.
FACILITIES = {
    "energy-counters": lambda: has_file("sys/class/powercap/intel-rapl:*/energy_uj"),
    "memory-error-counters": lambda: has_file("sys/devices/system/edac/mc/mc*/ce_count"),
    "thermometers": has_thermometer,
    "clock-range": lambda: has_file("sys/devices/system/cpu/cpufreq/policy*/cpuinfo_max_freq"),
    "clock-control": lambda: has_file("sys/devices/system/cpu/cpufreq/policy*/scaling_max_freq", os.W_OK),
}


@functools.cache
def has(facility):
    return FACILITIES[facility]()


@functools.cache
def glob(pattern):
    return re.compile(re.escape(pattern).replace(r"\*", ".*").replace(r"\?", "."))


def first_match(patterns, name):
    return next((pattern for pattern in patterns if glob(pattern).fullmatch(name)), None)


class Expectations:
    """The lines of expect/AREA.txt."""

    def __init__(self, area):
        self.fails, self.crashes, self.skips, self.timing, self.single = {}, {}, {}, {}, {}
        self.settings, self.environment, self.arguments = {}, {}, []
        self.least, self.seconds, self.serial, self.none = 0, 0, False, False
        by_kind = {"fail": self.fails, "crash": self.crashes, "skip": self.skips, "timing": self.timing, "single": self.single}
        path = HERE / "expect" / f"{area}.txt"
        for number, line in enumerate(path.read_text().splitlines() if path.exists() else [], 1):
            kind, *rest = line.split("\t")
            if not line or line.startswith("#"):
                continue
            if kind in by_kind and len(rest) == 2 and all(rest):
                by_kind[kind][rest[0]] = rest[1]
            elif kind == "without" and len(rest) == 3 and all(rest) and rest[0] in FACILITIES:
                if not has(rest[0]):
                    self.fails[rest[1]] = rest[2]
            elif kind == "with" and len(rest) == 2 and "=" in rest[1]:
                self.settings[rest[0]] = rest[1]
            elif kind == "pass" and len(rest) == 1 and rest[0].isdigit():
                self.least = int(rest[0])
            elif kind == "argument" and len(rest) == 2 and all(rest):
                self.arguments.append(rest[0])
            elif kind == "seconds" and len(rest) == 2 and rest[0].isdigit() and rest[1]:
                self.seconds = int(rest[0])
            elif kind == "none" and len(rest) == 1:
                self.none = True
            elif kind == "serial" and len(rest) == 1:
                self.serial = True
            elif kind == "env" and len(rest) == 1 and "=" in rest[0]:
                name, value = rest[0].split("=", 1)
                self.environment[name] = value
            else:
                sys.exit(f"{path.name}:{number}: no line as run_cts.py describes")


    def accept(self, name, outcome):
        """Whether a line allows that a test fails or crashes."""
        if outcome == "crashed":
            return bool(first_match(self.crashes, name))
        return bool(first_match({**self.fails, **self.crashes}, name))


expectations_of = functools.cache(Expectations)


def environment(arguments, program, name=""):
    """For `name` alone, or for listing."""
    expected = expectations_of(program.name)
    more = [setting.split("=", 1) for pattern, setting in expected.settings.items() if glob(pattern).fullmatch(name)]
    libraries = [arguments.libraries, os.environ.get("LD_LIBRARY_PATH", "")]
    return dict(os.environ, LD_LIBRARY_PATH=":".join(filter(None, libraries)), **expected.environment, **dict(more))


def list_tests(arguments, program):
    """Full names of a program's tests, without disabled ones."""
    done = subprocess.run([program, "--gtest_list_tests", *expectations_of(program.name).arguments], cwd=program.parent, env=environment(arguments, program), text=True,
                          errors="replace", timeout=120, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    names, suite = [], ""
    for line in done.stdout.splitlines():
        word = line.split("#")[0].rstrip()
        if re.fullmatch(r"\S+\.", word):
            suite = word
        elif suite and re.fullmatch(r"  \S+", word) and "DISABLED_" not in suite + word:
            names.append(suite + word.strip())
    return names


def ahead_of_all():
    """For a child process: the scheduler's rank of programs that wait for no other, where the system grants it."""
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))


def processes_of(session):
    """How many there are."""
    count = 0
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, IndexError):
            count += path.read_text().rpartition(")")[2].split()[3] == str(session)
    return count


def run_once(arguments, program, names, alone=False):
    """Outcomes of the tests that ran, the one under way when the process ended early, and the output."""
    outcomes, current, output = {}, None, []
    limit = expectations_of(program.name).seconds or arguments.timeout
    with tempfile.NamedTemporaryFile("w", suffix=".flags") as flags:
        flags.write("--gtest_filter=" + ":".join(names) + "\n")
        flags.flush()
        process = subprocess.Popen([program, f"--gtest_flagfile={flags.name}", *expectations_of(program.name).arguments], cwd=program.parent, start_new_session=True,
                                   preexec_fn=ahead_of_all if alone else None, env=environment(arguments, program, names[0]), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        began, rest, open_end = time.monotonic(), b"", True
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while open_end:
                left = min(began + limit, arguments.end) - time.monotonic()
                if left <= 0:
                    output.append(f"no end after {limit} s")
                    break
                if not selector.select(min(left, 2)):
                    if processes_of(process.pid) > CROWD:
                        output.append(f"more than {CROWD} processes")
                        break
                    continue
                data = os.read(process.stdout.fileno(), 1 << 16)
                open_end = bool(data)
                *lines, rest = (rest + data).split(b"\n")
                for line in (line.decode(errors="replace") for line in lines):
                    output.append(line)
                    event = EVENT.search(line)
                    if not event or event[2] not in names:
                        continue
                    began = time.monotonic()
                    if event[1] == " RUN      ":
                        current = event[2]
                    else:
                        outcomes[event[2]], current = OUTCOME[event[1]], None
        # The helpers that a test started belong to the same session.
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        code = process.wait()
    return outcomes, current, "\n".join(output[-60:]) + f"\n(exit code {code})"


@contextlib.contextmanager
def turn_of(area):
    """While inside, no test of a serial area of another run of this script is under way."""
    with contextlib.ExitStack() as held:
        if expectations_of(area).serial:
            path = pathlib.Path(tempfile.gettempdir()) / f"solum-cts-serial-{os.getuid()}.lock"
            fcntl.flock(held.enter_context(path.open("w")), fcntl.LOCK_EX)
        yield


def run_batch(arguments, program, names, alone=False):
    """Outcomes of a batch, all of it unless the run's time is over, and the end of the output for those that did not pass."""
    outcomes, texts, left = {}, {}, list(names)
    while left and time.monotonic() < arguments.end:
        with turn_of(program.name):
            found, current, output = run_once(arguments, program, left, alone)
        outcomes.update(found)
        for name in (name for name, outcome in found.items() if outcome == "failed"):
            texts[name] = ""
        if time.monotonic() >= arguments.end:
            break
        if current or not found:
            culprit = current or left[0]
            outcomes[culprit], texts[culprit] = "crashed", output
        left = [name for name in left if name not in outcomes]
    return outcomes, texts


def judge(area, outcomes, expected, whole):
    """Lines about unexpected outcomes."""
    wrong, used = [], set()
    for name, outcome in sorted(outcomes.items()):
        known, skip = first_match({**expected.fails, **expected.crashes}, name), first_match(expected.skips, name)
        used.update(filter(None, (first_match(lines, name) for lines in (expected.fails, expected.crashes, expected.skips))))
        if outcome in ("failed", "crashed") and not expected.accept(name, outcome):
            wrong.append(f"{outcome}{', its line says that it fails' if known else ''}: {area}\t{name}")
        elif outcome == "passed" and known:
            wrong.append(f"passes, take its line out of the list: {area}\t{name}")
        elif outcome == "skipped" and not (skip or known):
            wrong.append(f"skipped without a reason in the list: {area}\t{name}")
    if whole:
        lines = {**expected.fails, **expected.crashes, **expected.skips}
        stale = [pattern for pattern, reason in lines.items() if pattern not in used and not reason.startswith("not run:")]
        wrong += [f"no test matches, take the line out: {area}\t{pattern}" for pattern in stale]
        passed = sum(outcome == "passed" for outcome in outcomes.values())
        if passed < expected.least:
            wrong.append(f"{area}: {passed} passed, {expected.least} are promised")
    return wrong


def library_folder(text):
    """The folder of our libraries, absolute: programs run in other folders."""
    folder = pathlib.Path(text)
    missing = [name for name in LIBRARIES if not (folder / name).is_file()]
    if not text or missing:
        raise argparse.ArgumentTypeError(f"{text!r} has no {', '.join(missing or LIBRARIES)}: name the folder that ./x build fills")
    return str(folder.resolve())


def results_file(text):
    """A file that can be written: known before hours of tests."""
    path = pathlib.Path(text)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.open("a").close()
    except OSError as error:
        raise argparse.ArgumentTypeError(f"{text!r} cannot be written: {error.strerror}; name a file in a folder of yours")
    return path


def machine():
    """In general terms, without its name."""
    model = next((line.split(":", 1)[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
                  if line.startswith("model name")), platform.machine())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{model}, {len(os.sched_getaffinity(0))} processors, {memory:.0f} GiB"


def commit():
    """The checkout that this script belongs to."""
    done = subprocess.run(["git", "-C", pathlib.Path(__file__).parent, "rev-parse", "--short=12", "HEAD"], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return done.stdout.strip() or "unknown"


def end_when_interrupted(arguments):
    """The first interrupt ends the tests; results are still written."""
    def end(number, _):
        arguments.end = time.monotonic()
        signal.signal(number, signal.SIG_DFL)
        print("ending the tests: interrupt again to end at once, without results", file=sys.stderr, flush=True)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)


def results_text(facts, counts, total, wrong):
    """JSON with a line for each area."""
    areas = ",\n".join(f"    {json.dumps(area)}: {json.dumps(count)}" for area, count in counts.items())
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in {**facts, "total": total, "unexpected": wrong}.items()]
    return "{\n" + ",\n".join(lines + [f'  "areas": {{\n{areas}\n  }}']) + "\n}\n"


def main(words=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=pathlib.Path, help="built conformance programs")
    parser.add_argument("areas", nargs="*", help="programs to run (default: all test_* of the directory but test_stress_*)")
    parser.add_argument("--libraries", required=True, type=library_folder, help=f"directory of {', '.join(LIBRARIES)}")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="processes at a time")
    parser.add_argument("--timeout", type=int, default=120, help="seconds one test may take, where the area says nothing else")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="end all tests after this time; unfinished ones count as not run")
    parser.add_argument("--filter", default="*", help="only tests that match this pattern; several with ':'")
    parser.add_argument("--milestone", type=pathlib.Path, help="only tests of a list of 'area<TAB>pattern' lines")
    parser.add_argument("--outcomes", type=pathlib.Path, help="write 'outcome<TAB>area<TAB>test' lines here")
    parser.add_argument("--results", type=results_file, help="write counts by area here, as JSON, with date, commit and machine")
    parser.add_argument("--suite", default="unknown", help="the suite's commit, for --results")
    parser.add_argument("--verbose", action="store_true", help="print the last output of tests that crash or hang")
    arguments = parser.parse_args(words)
    arguments.end = time.monotonic() + 60 * arguments.minutes
    end_when_interrupted(arguments)
    directory = arguments.directory.resolve()
    programs = {path.name: path for path in sorted(directory.glob("test_*")) if os.access(path, os.X_OK) and path.is_file()}
    programs = {name: path for name, path in programs.items() if "_helper" not in name}
    unknown = [area for area in arguments.areas if area not in programs]
    if unknown or not programs:
        sys.exit(f"no program {', '.join(unknown) or 'test_*'} in {directory}; there are: {', '.join(programs) or 'none'}")
    patterns = {}
    if arguments.milestone:
        for line in arguments.milestone.read_text().splitlines():
            area, _, pattern = line.partition("\t")
            patterns.setdefault(area, []).append(pattern)
    areas = arguments.areas or [area for area in programs
                                if area in patterns or not patterns and not area.startswith("test_stress_")]
    if not areas:
        sys.exit(f"nothing to run: name one of {', '.join(programs)}")
    whole = arguments.filter == "*" and not patterns
    facts = {"date": datetime.datetime.now().isoformat(" ", "minutes"), "commit": commit(), "suite": arguments.suite, "machine": machine()}
    outcomes, wrong, texts = {}, [], {}
    # Serial areas have their own thread, so that one that waits does not hold up others.
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool, concurrent.futures.ThreadPoolExecutor(1) as serial_pool:
        batches, expectations, skipped, timed, chosen = {}, {}, {}, {}, {}
        for area in areas:
            expected = expectations[area] = expectations_of(area)
            names = [name for name in list_tests(arguments, programs[area])
                     if first_match(tuple(arguments.filter.split(":")), name) and (not patterns or first_match(tuple(patterns[area]), name))]
            if not names and not expected.none:
                wrong.append(f"{area}: no test found")
            if names and expected.none:
                wrong.append(f"{area}: has tests, take the line `none` out of the list")
            dangerous = {name for name in names if expected.fails.get(first_match(expected.fails, name), "").startswith("not run:")}
            skipped[area] = len(dangerous)
            names = [name for name in names if name not in dangerous]
            chosen[area] = names
            timed[area] = [name for name in names if first_match(expected.timing, name)]
            names = [name for name in names if name not in set(timed[area])]
            alone = [name for name in names if first_match(expected.single, name)]
            names = [name for name in names if name not in set(alone)]
            apart = [[name for name in names if first_match(expected.settings, name) == pattern] for pattern in expected.settings]
            names = [name for name in names if not first_match(expected.settings, name)]
            size = max(1, len(names) if expected.serial else min(BATCH, -(-len(names) // arguments.jobs)))
            for some in [names[at:at + size] for at in range(0, len(names), size)] + list(filter(None, apart)) + [[name] for name in alone]:
                taker = serial_pool if expected.serial else pool
                batches[taker.submit(run_batch, arguments, programs[area], some)] = area
        began = time.monotonic()
        for done, future in enumerate(concurrent.futures.as_completed(batches), 1):
            found, output = future.result()
            area = batches[future]
            outcomes.setdefault(area, {}).update(found)
            texts.update(output)
            bad = sorted(name for name, outcome in found.items()
                         if outcome in ("failed", "crashed") and not expectations[area].accept(name, outcome))
            print(f"[{done}/{len(batches)} {time.monotonic() - began:.0f} s] {area}: {len(found)} tests", *bad, sep="\n    ", file=sys.stderr, flush=True)
    again = [(area, name) for area in areas for name, outcome in sorted(outcomes.get(area, {}).items())
             if outcome in ("failed", "crashed") and not expectations[area].accept(name, outcome)]
    for area, name in again[:AGAIN]:
        found, output = run_batch(arguments, programs[area], [name])
        outcomes[area].update(found)
        texts.update(output)
    for area, names in ((area, names) for area, names in timed.items() if names):
        for _ in range(TRIES):
            found, output = run_batch(arguments, programs[area], names, alone=True)
            outcomes.setdefault(area, {}).update(found)
            texts.update(output)
            names = [name for name in names if found.get(name) in ("failed", "crashed")]
            if not names:
                break
    counts = {}
    for area in areas:
        found = outcomes.get(area, {})
        count = counts[area] = {kind: sum(o == kind for o in found.values()) for kind in ("passed", "failed", "skipped", "crashed")}
        late = sum(name not in found for name in chosen[area])
        count["not run"] = skipped[area] + late
        print(f"{area:<28} {count['passed']:6} passed {count['failed']:5} failed {count['skipped']:5} skipped {count['crashed']:4} crashed"
              f" {count['not run']:4} not run")
        wrong += judge(area, found, expectations[area], whole and not late)
        if late:
            wrong.append(f"{area}: {late} tests not run, the run was ended after {max(0, arguments.end - began) / 60:.0f} minutes")
    if arguments.outcomes:
        lines = [f"{outcome}\t{area}\t{name}" for area, found in sorted(outcomes.items()) for name, outcome in sorted(found.items())]
        arguments.outcomes.write_text("\n".join(lines) + "\n")
    for line in wrong[:200]:
        print(f"  {line}")
        if arguments.verbose and texts.get(line.split("\t")[-1]):
            print(texts[line.split("\t")[-1]])
    if len(wrong) > 200:
        print(f"  and {len(wrong) - 200} more")
    total = {kind: sum(count[kind] for count in counts.values()) for kind in next(iter(counts.values()))}
    if arguments.results:
        facts["seconds"] = round(time.monotonic() - began)
        arguments.results.write_text(results_text(facts, counts, total, wrong))
    lacking = sorted(facility for facility in FACILITIES if not has(facility))
    if lacking:
        print(f"this machine has no {', '.join(lacking)}: lines `without` apply")
    print(f"conformance in {time.monotonic() - began:.0f} s:\n{total['passed']} passed, {len(wrong)} failed")
    return 1 if wrong or not total["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
