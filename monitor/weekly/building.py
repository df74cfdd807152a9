"""Build a report: compute it, write it into a folder of its own, chained to the one before."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from monitor import __version__
from monitor.canaries import InstallationKey
from monitor.certificate.keys import Signer
from monitor.errors import UsageError
from monitor.store.week_reader import WeekReader
from monitor.weekly.computing import compute
from monitor.weekly.files import Format, files_of
from monitor.weekly.inputs import Asked
from monitor.weekly.manifest import MANIFEST_FILE, PreviousPart, Signed, manifest_of, sha256
from monitor.weekly.record import WeeklyReport
from monitor.weekly.verifying import (
    BadManifestError,
    key_problem,
    other_environment,
    other_week,
    read_manifest,
    verify,
    weeks_between,
)
from monitor.weekly.week import Week

_OWNER_ONLY_FILE, _OWNER_ONLY_FOLDER = 0o600, 0o700


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """A report that was written: what it says, where it is, and the hash to keep elsewhere.

    ``passed_over`` says which reports beside it do not hold and were not followed, and why;
    ``left_out`` which hold and are newer than the one that it was told to follow.
    ``previous_environment`` is that of the report before if it is of another one.
    """

    report: WeeklyReport
    folder: Path
    manifest_sha256: str
    previous: PreviousPart | None
    passed_over: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    previous_environment: str = ""


def build(
    reader: WeekReader,
    asked: Asked,
    formats: Sequence[Format],
    out: Path,
    key: InstallationKey,
    previous: Path | None = None,
) -> Built:
    """Write the report of a week into a folder that is not there yet, or empty.

    ``previous`` is the folder of the report before; left out, the newest of an earlier week that
    stands beside ``out`` and holds: those that do not are passed over, and told. Raises
    ``UsageError`` for a folder that is taken, for a report before that this installation did not
    sign, that does not hold or that is of no earlier week, ``StoreError`` for rows that cannot be
    read. What fails leaves nothing there.
    """
    check_free(out, asked.week)
    signer = Signer(key)
    passed_over: list[str] = []
    left_out: list[str] = []
    before: PreviousPart | None
    if previous is not None:
        before = _following(asked.week, previous, signer)
        left_out = _newer_that_hold(asked.week, before, (previous.absolute(), out), signer)
    else:
        before, previous = _newest_that_holds(asked.week, out.parent, signer, passed_over)
    report = compute(reader, asked)
    files = dict(files_of(report, formats))
    manifest = manifest_of(
        files,
        Signed(
            davylamp=__version__,
            installation=key.fingerprint,
            environment=asked.environment,
            week=asked.week,
            previous=before,
        ),
        signer,
    )
    _write(out, {**files, MANIFEST_FILE: manifest})
    return Built(
        report=report,
        folder=out,
        manifest_sha256=sha256(manifest),
        previous=before,
        passed_over=tuple(passed_over),
        left_out=tuple(left_out),
        previous_environment=other_environment(asked.environment, previous) if previous else "",
    )


def check_free(out: Path, week: Week) -> None:
    """Raise ``UsageError`` if the folder for the report of a week is taken, or cannot be made.

    Also for the name of another week: a report in there would not hold.
    """
    if not out.parent.is_dir():
        raise UsageError(f"{out.parent}: no such folder (make it first)")
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise UsageError(f"{out} is not a folder")
    if out.is_dir() and any(out.iterdir()):
        msg = f"{out} is not empty (a report has a folder of its own: name a new one)"
        raise UsageError(msg)
    if named := other_week(out, week):
        msg = f"{out} has the name of another week: {named}, and the report is of {week.label}"
        raise UsageError(f"{msg} (such a report would not hold: name it otherwise)")


def _following(week: Week, folder: Path, signer: Signer) -> PreviousPart:
    """Return what a report of a week says of the one before. Raises ``UsageError``."""
    try:
        manifest, content = read_manifest(folder)
    except BadManifestError as error:
        raise UsageError(f"{folder}: the report before cannot be followed: {error}") from None
    if problem := key_problem(manifest, signer.public):
        raise UsageError(f"{folder}: the report before is not one of this installation: {problem}")
    between = weeks_between(week, Week.parse(manifest.week))
    if between < 0:
        raise UsageError(f"{folder}: a report of {manifest.week} cannot come before {week.label}")
    if problems := verify(folder, signer.public).problems:
        raise UsageError(f"{folder}: the report before does not hold: {problems[0]}")
    return PreviousPart(week=manifest.week, manifest_sha256=sha256(content), weeks_between=between)


def _newest_that_holds(
    week: Week, reports: Path, signer: Signer, passed_over: list[str]
) -> tuple[PreviousPart | None, Path | None]:
    """Return the newest earlier report that holds with its folder, and add why newer ones do not.

    One broken report must not end the chain for ever: the gap is in the manifest.
    """
    for folder in earlier_reports(reports, week):
        try:
            found = _following(week, folder, signer)
        except UsageError as error:
            passed_over.append(str(error))
            continue
        return found, folder
    return None, None


def _newer_that_hold(
    week: Week, before: PreviousPart, beside: Iterable[Path], signer: Signer
) -> list[str]:
    """Return the reports between two weeks that hold, beside these folders, newest first."""
    found = []
    for reports in sorted({each.parent.resolve() for each in beside}):
        for folder in earlier_reports(reports, week):
            if Week.parse(folder.name) > Week.parse(before.week):
                with contextlib.suppress(UsageError):
                    _following(week, folder, signer)
                    found.append(f"{folder} holds and is newer than {before.week}")
    return found


def earlier_reports(folder: Path, week: Week) -> list[Path]:
    """Return the reports of earlier weeks in a folder where their weeks name them, newest first."""
    found: dict[Week, Path] = {}
    for each in folder.iterdir():
        with contextlib.suppress(ValueError):
            if (each / MANIFEST_FILE).is_file():
                found[Week.parse(each.name)] = each
    return [found[each] for each in sorted(found, reverse=True) if each < week]


def _write(out: Path, files: Mapping[str, bytes]) -> None:
    """Write files into a folder that stands there only once all are in it."""
    try:
        with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}.") as scratch:
            made = Path(scratch) / "report"
            made.mkdir(mode=_OWNER_ONLY_FOLDER)
            for name, content in files.items():
                _write_file(made / name, content)
            if out.is_dir():
                out.rmdir()
            made.rename(out)
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise UsageError(f"{out} cannot be written: {reason}; nothing was left there") from None


def _write_file(file: Path, content: bytes) -> None:
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OWNER_ONLY_FILE)
    with os.fdopen(descriptor, "wb") as opened:
        opened.write(content)
        opened.flush()
        os.fsync(opened.fileno())
