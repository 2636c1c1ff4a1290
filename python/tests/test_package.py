"""Tests of the installed wheel: run them with the interpreter of an environment that has nothing but the wheel."""

import json
import os
import subprocess
import sys
import sysconfig
import unittest
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from unittest import mock

import solum_level_zero as solum

PREFIX = Path(sysconfig.get_path("data")).resolve()


def python(*arguments):
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False)


@contextmanager
def changed(path, content):
    """The file with other content; without the file if there is none."""
    kept = path.with_name("kept")
    path.rename(kept)
    try:
        if content is not None:
            path.write_bytes(content)
        yield
    finally:
        kept.replace(path)


class Package(unittest.TestCase):
    def test_devices(self):
        devices = solum.devices()
        self.assertEqual([device.kind for device in devices], ["gpu", "cpu"])
        self.assertEqual([device.selector for device in devices], ["level_zero:gpu:0", "level_zero:cpu:0"])
        for device in devices:
            self.assertIn("Solum", device.name)
            self.assertGreaterEqual(device.compute_units, 1)
            self.assertGreater(device.memory_bytes, 1 << 20)

    def test_paths(self):
        self.assertEqual(solum.library_path(), PREFIX / "lib")
        self.assertEqual(solum.program_path(), PREFIX / "bin" / "solum")
        self.assertTrue(os.access(solum.program_path(), os.X_OK))

    def test_doctor(self):
        report = solum.doctor()
        self.assertTrue(report.ok, report)
        launches = [check for check in report.checks if check.check == "launch"]
        self.assertEqual([check.state for check in launches], ["ok", "ok"])

    def test_doctor_of_a_program(self):
        report = solum.doctor(["no-such-program"])
        self.assertFalse(report.ok)
        self.assertIn("no-such-program", report.checks[-1].cause)
        self.assertTrue(report.checks[-1].fix)

    def test_command_line(self):
        listed = python("-m", "solum_level_zero", "ls", "--json")
        self.assertEqual(json.loads(listed.stdout)["schema"], "solum.ls/1")
        self.assertEqual(python("-m", "solum_level_zero", "no-such-command").returncode, 2)
        self.assertIn(version("solum-level-zero"), python("-m", "solum_level_zero", "--version").stdout)
        self.assertEqual(solum.__version__, version("solum-level-zero"))

    def test_replaced_loader(self):
        loader = solum.library_path() / "libze_loader.so.1"
        for content, words in [(b"of another package", "replaced by another package"), (None, "is missing")]:
            with changed(loader, content):
                imported = python("-c", "import solum_level_zero")
                self.assertEqual(imported.returncode, 0)
                self.assertIn(words, imported.stderr)
                self.assertIn("pip install --force-reinstall solum-level-zero", imported.stderr)
                with self.assertRaises(solum.SolumError):
                    solum.devices()
        self.assertEqual(python("-W", "error", "-c", "import solum_level_zero").stderr, "")

    def test_missing_program(self):
        with changed(solum.program_path(), None):
            with self.assertRaisesRegex(solum.SolumError, "solum is missing"):
                solum.devices()
            started = python("-m", "solum_level_zero", "ls")
        self.assertEqual(started.returncode, 1)
        self.assertTrue(started.stderr.startswith("solum: solum is missing"), started.stderr)

    def test_program_that_cannot_run(self):
        for flag, words in [(0, "Permission denied"), (os.ST_NOEXEC, "mounted noexec")]:
            found = mock.Mock(f_flag=flag)
            with mock.patch("subprocess.run", side_effect=PermissionError(13, "Permission denied")), mock.patch(
                "os.statvfs", return_value=found
            ), self.assertRaisesRegex(solum.SolumError, words):
                solum.devices()

    def test_other_machine(self):
        with mock.patch("platform.machine", return_value="aarch64"), self.assertWarnsRegex(UserWarning, "aarch64"):
            solum._warn_of_damage()

    def test_errors_have_the_programs_words(self):
        with mock.patch.dict(os.environ, SOLUM_DEVICES="nonsense"), self.assertRaisesRegex(solum.SolumError, "SOLUM_DEVICES"):
            solum.devices()


if __name__ == "__main__":
    unittest.main()
