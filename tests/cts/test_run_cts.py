#!/usr/bin/env python3
"""Tests of run_cts.py, with a program that behaves like one of GoogleTest's: test_run_cts.py [TEST]."""
import contextlib
import io
import json
import os
import pathlib
import signal
import tempfile
import threading
import time
import types
import unittest
from unittest import mock

import run_cts

# Each test does what its name says.
PROGRAM = """#!/bin/sh
case $1 in --gtest_list_tests)
  printf 'Suite.\\n  Passes\\n  Crashes\\n  Fails\\n  Skips\\n  DISABLED_Other\\n'
  [ ! -e "${0%/*}/hangs" ] || printf '  Hangs\\n'
  exit
esac
names=$(sed 's/--gtest_filter=//; s/:/ /g' "${1#*=}")
for name in $names; do
  echo "[ RUN      ] $name"
  case $name in
    *.Passes) echo "[       OK ] $name (1 ms)" ;;
    *.Fails) echo "[  FAILED  ] $name (1 ms)" ;;
    *.Skips) echo "[  SKIPPED ] $name (1 ms)" ;;
    *.Crashes) kill -KILL $$ ;;
    *.Hangs) touch "${0%/*}/begun"; sleep 60 ;;
  esac
done
"""
LISTED = "fail\t*.Fails\tr\nskip\t*.Skips\tr\n"


class Runner(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "expect").mkdir()
        self.enterContext(mock.patch.object(run_cts, "HERE", self.folder))
        self.program = self.folder / "test_area"
        self.program.write_text(PROGRAM)
        self.program.chmod(0o755)
        for name in run_cts.LIBRARIES:
            (self.folder / name).touch()

    def expectations(self, text):
        (self.folder / "expect/test_area.txt").write_text(text)
        run_cts.expectations_of.cache_clear()
        return run_cts.expectations_of("test_area")

    def run_main(self, *words, areas=()):
        """Exit code and output."""
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            try:
                code = run_cts.main([str(self.folder), *areas, "--jobs", "1", *words])
            except SystemExit as end:
                code = end.code
        return code, said.getvalue()

    def test_lists_are_read_or_refused(self):
        read = self.expectations("# text\n\nfail\ta*\tr\ncrash\tb\tr\npass\t7\nseconds\t3\tr\nenv\tA=b=c\nwith\tp\tC=d\nserial\tr\n")
        self.assertEqual((read.fails, read.crashes, read.least, read.seconds), ({"a*": "r"}, {"b": "r"}, 7, 3))
        self.assertEqual((read.environment, read.settings, read.serial), ({"A": "b=c"}, {"p": "C=d"}, True))
        for line in ("fail\tpattern", "fail\tpattern\t", "pass\tmany", "without\tno-such-part\tpattern\tr", "Fail\tpattern\tr"):
            with self.subTest(line), self.assertRaises(SystemExit):
                self.expectations(line)

    def test_committed_lists_are_read(self):
        lists = sorted((pathlib.Path(__file__).parent / "expect").glob("*.txt"))
        self.assertTrue(lists)
        with mock.patch.object(run_cts, "HERE", pathlib.Path(__file__).parent):
            for path in lists:
                run_cts.Expectations(path.stem)

    def test_outcomes_are_judged_by_the_list(self):
        # (lines, outcome of the test named t, the report line)
        for lines, outcome, said in [
            ("", "passed", None),
            ("", "failed", "failed: "),
            ("", "crashed", "crashed: "),
            ("", "skipped", "skipped without a reason"),
            ("fail\tt\tr", "failed", None),
            ("fail\tt\tr", "skipped", None),
            ("fail\tt\tr", "passed", "take its line out"),
            ("fail\tt\tr", "crashed", "crashed, its line says that it fails"),
            ("crash\tt\tr", "crashed", None),
            ("crash\tt\tr", "failed", None),
            ("crash\tt\tr", "passed", "take its line out"),
            ("skip\tt\tr", "skipped", None),
            ("skip\tt\tr", "failed", "failed: "),
            ("fail\tt\tr\nfail\tother\tr", "failed", "no test matches"),
            ("fail\tt\tr\nfail\tother\tnot run: r", "failed", None),
            ("pass\t2", "passed", "1 passed, 2 are promised"),
        ]:
            with self.subTest(lines=lines, outcome=outcome):
                wrong = run_cts.judge("test_area", {"t": outcome}, self.expectations(lines), whole=True)
                self.assertEqual(len(wrong), int(said is not None), wrong)
                self.assertIn(said or "", "".join(wrong))

    def test_a_facility_decides_whether_its_tests_pass(self):
        for there, outcome, wrong in [(True, "passed", 0), (True, "failed", 1), (False, "failed", 0), (False, "passed", 1)]:
            with self.subTest(there=there, outcome=outcome), mock.patch.object(run_cts, "has", lambda _: there):
                expected = self.expectations("without\tthermometers\tt\tr")
                self.assertEqual(len(run_cts.judge("test_area", {"t": outcome}, expected, whole=True)), wrong)

    def test_facilities_are_seen_by_their_files(self):
        sensor = self.folder / "sys/class/powercap/intel-rapl:0/energy_uj"
        with mock.patch.object(run_cts.pathlib, "Path", lambda path: self.folder if path == "/" else pathlib.PosixPath(path)):
            self.assertFalse(run_cts.FACILITIES["energy-counters"]())
            sensor.parent.mkdir(parents=True)
            sensor.touch()
            self.assertTrue(run_cts.FACILITIES["energy-counters"]())
            name = self.folder / "sys/class/hwmon/hwmon0/name"
            name.parent.mkdir(parents=True)
            name.write_text("nvme\n")
            self.assertFalse(run_cts.FACILITIES["thermometers"]())
            name.write_text("coretemp\n")
            self.assertTrue(run_cts.FACILITIES["thermometers"]())

    def test_libraries_must_be_there(self):
        self.expectations("")
        (self.folder / "empty").mkdir()
        for folder in ("", str(self.folder / "empty"), str(self.folder / "missing")):
            code, said = self.run_main(f"--libraries={folder}")
            self.assertEqual(code, 2, folder)
            self.assertIn("has no libze_loader.so.1", said)

    def test_a_crash_ends_its_test_alone_and_is_no_listed_failure(self):
        crashed = "crashed, its line says that it fails: test_area\tSuite.Crashes"
        for lines, code, said in [
            ("crash\t*.Crashes\tr\npass\t1", 0, "1 passed, 0 failed"),
            ("fail\t*.Crashes\tr\npass\t1", 1, crashed),
            ("fail\t*.Crashes\tnot run: r\npass\t1", 0, "1 passed, 0 failed"),
            ("crash\t*.Crashes\tr\npass\t2", 1, "1 passed, 2 are promised"),
        ]:
            with self.subTest(lines):
                self.expectations(LISTED + lines)
                found, output = self.run_main(f"--libraries={self.folder}")
                self.assertEqual(found, code, output)
                self.assertIn(said, output)

    def test_results_are_counts_by_area(self):
        file = self.folder / "made/results.json"
        for lines, known in [("crash\t*.Crashes\tr\npass\t1", True), ("fail\t*.Crashes\tnot run: r", True), ("", False)]:
            with self.subTest(lines):
                self.expectations(LISTED + lines)
                code, output = self.run_main(f"--libraries={self.folder}", f"--results={file}", "--suite=0123abc")
                self.assertEqual(code, int(not known), output)
                results = json.loads(file.read_text())
                crashed = int("not run" not in lines)
                counts = {"passed": 1, "failed": 1, "skipped": 1, "crashed": crashed, "not run": 1 - crashed}
                self.assertEqual(results["areas"], {"test_area": counts})
                self.assertEqual(results["total"], counts)
                self.assertEqual(results["suite"], "0123abc")
                self.assertEqual(results["unexpected"], [] if known else ["crashed: test_area\tSuite.Crashes"])
                self.assertTrue(results["machine"] and results["date"])

    def test_tests_that_come_too_late_are_counted_as_not_run(self):
        self.expectations(LISTED + "crash\t*.Crashes\tr\npass\t1")
        code, said = self.run_main(f"--libraries={self.folder}", "--minutes=0")
        self.assertEqual(code, 1)
        self.assertIn("4 not run", said)
        self.assertIn("test_area: 4 tests not run, the run was ended after 0 minutes", said)
        self.assertNotIn("promised", said)

    def test_an_interrupt_ends_the_tests_with_results(self):
        self.expectations(LISTED + "crash\t*.Crashes\tr\nskip\t*\tr")
        (self.folder / "hangs").touch()
        results = self.folder / "results.json"

        def interrupt():
            while not (self.folder / "begun").exists():
                time.sleep(0.01)
            os.kill(os.getpid(), signal.SIGINT)

        for number in (signal.SIGINT, signal.SIGTERM):
            self.addCleanup(signal.signal, number, signal.getsignal(number))
        threading.Thread(target=interrupt).start()
        began = time.monotonic()
        code, said = self.run_main(f"--libraries={self.folder}", f"--results={results}")
        self.assertLess(time.monotonic() - began, 30)
        self.assertEqual(code, 1)
        self.assertIn("test_area: 1 tests not run", said)
        self.assertEqual(json.loads(results.read_text())["areas"]["test_area"]["passed"], 1)

    def test_stress_programs_run_by_name_only(self):
        self.expectations(LISTED + "crash\t*.Crashes\tr\npass\t1")
        self.program.rename(self.folder / "test_stress_area")
        (self.folder / "expect/test_area.txt").rename(self.folder / "expect/test_stress_area.txt")
        code, _ = self.run_main(f"--libraries={self.folder}")
        self.assertEqual(code, "nothing to run: name one of test_stress_area")
        code, said = self.run_main(f"--libraries={self.folder}", areas=["test_stress_area"])
        self.assertEqual((code, "test_stress_area" in said), (0, True), said)

    def test_a_results_file_that_cannot_be_written_is_refused_before_the_run(self):
        self.expectations("")
        code, said = self.run_main(f"--libraries={self.folder}", f"--results={self.program}/results.json")
        self.assertEqual(code, 2, said)
        self.assertIn("cannot be written", said)
        self.assertNotIn("passed", said)

    def test_a_test_that_does_not_end_has_crashed(self):
        self.expectations("")
        arguments = types.SimpleNamespace(timeout=0.1, libraries=str(self.folder), end=float("inf"))
        outcomes, texts = run_cts.run_batch(arguments, self.program, ["Suite.Hangs", "Suite.Passes"])
        self.assertEqual(outcomes, {"Suite.Hangs": "crashed", "Suite.Passes": "passed"})
        self.assertIn("no end after 0.1 s", texts["Suite.Hangs"])

    def test_a_test_under_way_when_the_time_is_over_has_not_crashed(self):
        self.expectations("")
        begun = self.folder / "begun"

        class Arguments:
            timeout, libraries = 30, str(self.folder)
            end = property(lambda _: 0 if begun.exists() else float("inf"))

        outcomes, _ = run_cts.run_batch(Arguments(), self.program, ["Suite.Hangs", "Suite.Skips"])
        self.assertEqual(outcomes, {})


if __name__ == "__main__":
    unittest.main()
