"""Level Zero devices on any x86-64 machine, for dpnp, dpctl and every other oneAPI program.

The wheel installs a Level Zero loader and a CPU driver where DPC++'s adapters look for them, so nothing has to be
called or set:

    >>> import dpnp
    >>> dpnp.ones(3).device
    Device(level_zero:cpu:0)

This package tells which devices there are and why a program finds none. It runs the program `solum`, which
``python -m solum_level_zero`` also starts.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import distribution, version
from pathlib import Path

__all__ = ["Check", "Device", "Report", "SolumError", "devices", "doctor", "library_path", "program_path"]

_DISTRIBUTION = "solum-level-zero"
_LOADER = "libze_loader.so.1"
_REINSTALL = f"pip install --force-reinstall {_DISTRIBUTION}"

__version__ = version(_DISTRIBUTION)


class SolumError(RuntimeError):
    """Solum cannot be used; the text tells why and how to change it."""


@dataclass(frozen=True)
class Device:
    """A device of any Level Zero driver on this machine."""

    selector: str
    """Name in DPC++'s notation, such as ``level_zero:cpu:0``."""
    name: str
    kind: str
    """``cpu``, ``gpu`` or another type in lower case."""
    compute_units: int
    memory_bytes: int


@dataclass(frozen=True)
class Check:
    """One finding of :func:`doctor`."""

    check: str
    """The part that was checked, such as ``loader`` or ``driver``."""
    state: str
    """``ok``, ``note``, ``warn`` or ``fail``."""
    found: str
    cause: str | None = None
    fix: str | None = None


@dataclass(frozen=True)
class Report:
    """The findings of :func:`doctor`."""

    ok: bool
    """Whether no check failed."""
    checks: tuple[Check, ...]


def _find(name: str) -> tuple[Path, int | None] | None:
    """The file of this distribution with that name, wherever pip has put it, and the bytes that pip has written."""
    for file in distribution(_DISTRIBUTION).files or ():
        if file.name == name and (path := Path(str(file.locate()))).exists():
            return path.resolve(), file.size
    return None


def _installed(name: str) -> Path:
    found = _find(name)
    if found is None:
        raise SolumError(f"{name} is missing from the installation: run {_REINSTALL}")
    return found[0]


def library_path() -> Path:
    """The folder of ``libze_loader.so.1`` and Solum's other libraries, for ``LD_LIBRARY_PATH`` or a linker."""
    return _installed(_LOADER).parent


def program_path() -> Path:
    """The program ``solum``."""
    return _installed("solum")


def _cannot_run(error: OSError) -> SolumError:
    reason = error.strerror
    if os.statvfs(program_path()).f_flag & os.ST_NOEXEC:
        reason = "its file system is mounted noexec; install into another folder, or remount it with exec"
    return SolumError(f"{program_path()} cannot be run: {reason}")


def _solum(*arguments: str | os.PathLike[str]) -> dict:
    try:
        finished = subprocess.run([program_path(), *arguments], capture_output=True, text=True, check=False)
    except OSError as error:
        raise _cannot_run(error) from error
    try:
        document = json.loads(finished.stdout)
    except ValueError:
        raise SolumError(finished.stderr.strip() or f"solum ended with code {finished.returncode}") from None
    if "error" in document:
        raise SolumError(": ".join(document[key] for key in ("error", "hint") if key in document))
    return document


def devices() -> list[Device]:
    """All Level Zero devices, those of other vendors' drivers first.

    :raises SolumError: there is no device; :func:`doctor` tells why.
    """
    return [
        Device(**{field: device[field] for field in Device.__dataclass_fields__})
        for driver in _solum("ls", "--json")["drivers"]
        for device in driver["devices"]
    ]


def doctor(program: Sequence[str | os.PathLike[str]] = ()) -> Report:
    """Checks everything between a program and a device: linker, runtime, loader, drivers, selection, a kernel.

    :param program: a command line; it is not started, but its libraries and interpreter are examined.
    :raises SolumError: the checks themselves could not run.
    """
    document = _solum("doctor", "--json", *(["--", *program] if program else []))
    fields = Check.__dataclass_fields__
    checks = ({field: check[field] for field in fields if field in check} for check in document["checks"])
    return Report(document["ok"], tuple(Check(**check) for check in checks))


def _warn_of_damage() -> None:
    """Warns if this machine or the installation cannot work, because programs would only find no device."""
    machine = platform.machine()
    if machine != "x86_64":
        warnings.warn(f"Solum runs on x86_64, and this machine is {machine}: programs will find no device", stacklevel=3)
        return
    found = _find(_LOADER)
    if found is not None and found[1] in (None, found[0].stat().st_size):
        return
    state = f"{_LOADER} is missing" if found is None else f"{found[0]} has been replaced by another package"
    warnings.warn(
        f"{state}: programs may find no device of Solum. Run {_REINSTALL}, or python -m solum_level_zero doctor for details",
        stacklevel=3,
    )


_warn_of_damage()
