"""A report holds only as it was written: no bit, no file, no key and no week may be another."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.canaries import InstallationKey
from monitor.certificate.keys import Signer
from monitor.store import Store
from monitor.store.client import connect
from monitor.store.week_reader import WeekReader
from monitor.weekly.building import build
from monitor.weekly.files import Format, files_of
from monitor.weekly.inputs import Asked
from monitor.weekly.manifest import MANIFEST_FILE, PreviousPart, Signed, manifest_of, sha256
from monitor.weekly.verifying import Verified, verify
from monitor.weekly.week import Week
from monitor.weekly.words import built_lines, verified_exit, verified_lines
from tests.unit.weekly.samples import WEEK, a_report

KEY = InstallationKey(bytes(range(32)))
OTHER = InstallationKey(bytes(32))
PUBLIC = Signer(KEY).public
FILES = files_of(a_report(), [Format.JSON, Format.CSV])


def written(
    folder: Path,
    week: Week = WEEK,
    previous: PreviousPart | None = None,
    environment: str = "lab",
) -> Path:
    """Write a report and return its folder."""
    folder.mkdir(parents=True)
    signed = Signed(
        davylamp="1.2.3",
        installation="ab",
        environment=environment,
        week=week,
        previous=previous,
    )
    for name, content in FILES.items():
        (folder / name).write_bytes(content)
    (folder / MANIFEST_FILE).write_bytes(manifest_of(FILES, signed, Signer(KEY)))
    return folder


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("reports") / WEEK.label)


@pytest.fixture
def copied(report: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(report, tmp_path / "copy"))


def exit_of(folder: Path) -> int:
    return verified_exit(verify(folder, PUBLIC))


def test_a_report_holds_under_its_key(report: Path) -> None:
    found = verify(report, PUBLIC)
    assert (found.problems, verified_exit(found)) == ((), 0)
    assert verified_lines(found)[0] == "HOLDS: report 2026-W45 of lab"


def test_without_a_key_it_is_never_more_than_unchanged(report: Path) -> None:
    found = verify(report, None)
    assert verified_exit(found) == 3
    assert any("key not checked" in line for line in verified_lines(found))


def test_the_key_that_a_manifest_names_is_not_trusted(tmp_path: Path) -> None:
    folder = tmp_path / "forged"
    folder.mkdir()
    signed = Signed(davylamp="1", installation="ab", environment="lab", week=WEEK, previous=None)
    (folder / "report.json").write_bytes(b"{}\n")
    forged = manifest_of({"report.json": b"{}\n"}, signed, Signer(OTHER))
    (folder / MANIFEST_FILE).write_bytes(forged)
    assert verify(folder, None).problems == ()
    assert "yours is another" in verify(folder, PUBLIC).problems[0]
    said = json.loads(forged) | {"public_key": PUBLIC.fingerprint}
    text = json.dumps(said, sort_keys=True, indent=2) + "\n"
    (folder / MANIFEST_FILE).write_text(text)
    assert "signature is not of this manifest" in verify(folder, PUBLIC).problems[0]


@given(st.data())
def test_any_changed_bit_is_seen(report: Path, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted([*FILES, MANIFEST_FILE])))
    file = report / name
    content = file.read_bytes()
    bit = data.draw(st.integers(0, 8 * len(content) - 1))
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << bit % 8
    file.write_bytes(changed)
    try:
        assert exit_of(report) == 1
        assert name == MANIFEST_FILE or verified_exit(verify(report, None)) == 1
    finally:
        file.write_bytes(content)


def test_a_missing_file_is_seen(copied: Path) -> None:
    (copied / "leaks.csv").unlink()
    assert verify(copied, PUBLIC).problems == ("leaks.csv is missing",)


def test_an_additional_file_or_folder_is_seen_and_its_name_is_harmless(copied: Path) -> None:
    (copied / "more\x1b[31m.txt").write_text("")
    (copied / ".hidden").mkdir()
    problems = verify(copied, PUBLIC).problems
    assert len(problems) == 2
    assert not any("\x1b" in line for line in problems)


def test_a_link_to_the_same_content_is_no_file(copied: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    shutil.move(copied / "leaks.csv", elsewhere)
    (copied / "leaks.csv").symlink_to(elsewhere)
    assert verify(copied, PUBLIC).problems == ("leaks.csv cannot be read as a file",)


def test_a_pipe_keeps_nobody_waiting(copied: Path) -> None:
    (copied / "leaks.csv").unlink()
    os.mkfifo(copied / "leaks.csv")
    assert verify(copied, PUBLIC).problems == ("leaks.csv is not a file",)


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"[" * 100_000, b"\xff\xfe", b"null", b'{"version": 2}']
)
def test_what_is_no_manifest_is_refused_and_nothing_of_it_quoted(
    copied: Path, content: bytes
) -> None:
    (copied / MANIFEST_FILE).write_bytes(content)
    found = verify(copied, PUBLIC)
    assert (verified_exit(found), found.manifest) == (1, None)
    assert verified_lines(found)[0] == "DOES NOT HOLD"


def test_a_manifest_of_another_spelling_is_refused(copied: Path) -> None:
    file = copied / MANIFEST_FILE
    said = json.loads(file.read_bytes())
    file.write_text(json.dumps(said, sort_keys=True, indent=4) + "\n")
    assert "not written as manifests are" in verify(copied, PUBLIC).problems[0]


def test_a_folder_that_is_named_after_another_week_is_seen(
    report: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved = Path(shutil.copytree(report, tmp_path / "2026-W44"))
    words = "the folder is named after another week: 2026-W44, and the report is of 2026-W45"
    assert (verify(moved, PUBLIC).problems, exit_of(moved)) == ((words,), 1)
    monkeypatch.chdir(moved)
    assert verify(Path(), PUBLIC).problems == (words,)
    after = written(tmp_path / "W46", Week.parse("2026-W46"), _before(moved))
    assert verify(after, PUBLIC, moved).problems == (f"the report before: {words}",)


def test_a_week_there_is_not_is_refused(copied: Path) -> None:
    file = copied / MANIFEST_FILE
    file.write_text(file.read_text().replace("2026-W45", "2026-W99"))
    assert exit_of(copied) == 1


def _before(folder: Path, between: int = 0) -> PreviousPart:
    manifest = (folder / MANIFEST_FILE).read_bytes()
    return PreviousPart(
        week=json.loads(manifest)["week"],
        manifest_sha256=sha256(manifest),
        weeks_between=between,
    )


def chained(found: Verified) -> tuple[bool, tuple[str, ...]]:
    return found.chain_checked, found.problems


def test_the_report_before_is_checked_if_it_is_given(report: Path, tmp_path: Path) -> None:
    after = written(tmp_path / "W46", Week.parse("2026-W46"), _before(report))
    assert chained(verify(after, PUBLIC, report)) == (True, ())
    assert any("not checked: --previous" in line for line in verified_lines(verify(after, PUBLIC)))


def test_that_the_report_before_is_of_another_environment_is_said(
    report: Path, tmp_path: Path, store: Store
) -> None:
    week, words = Week.parse("2026-W46"), "it follows 2026-W45 of another environment, lab"
    after = written(tmp_path / "after", week, _before(report), "staging")
    found = verify(after, PUBLIC, report)
    assert chained(found) == (True, ())
    assert any(line.startswith(f"{words}, manifest") for line in verified_lines(found))
    for environment, count in (("staging", 1), ("lab", 0)):
        asked = Asked(week=week, environment=environment, targets=(), objectives=(), accepted=())
        with closing(WeekReader(connect(store.location, read_only=True))) as reader:
            for number, before in enumerate((report, None)):
                out = report.parent / f"{environment}-{number}"
                built = build(reader, asked, [Format.JSON], out, KEY, before)
                assert built_lines(built).count(words) == count


def test_a_gap_in_the_chain_is_said_and_must_be_the_true_one(report: Path, tmp_path: Path) -> None:
    after = written(tmp_path / "W48", Week.parse("2026-W48"), _before(report, 2))
    found = verify(after, PUBLIC, report)
    assert chained(found) == (True, ())
    assert any(
        "2 weeks in between have no report of this chain" in line for line in verified_lines(found)
    )
    hidden = written(tmp_path / "hidden", Week.parse("2026-W48"), _before(report))
    assert "wrong number of weeks" in verify(hidden, PUBLIC, report).problems[0]


def test_another_report_before_is_refused(report: Path, tmp_path: Path) -> None:
    other = written(tmp_path / "other", Week.parse("2026-W43"))
    after = written(tmp_path / "W46", Week.parse("2026-W46"), _before(report))
    assert "follows another report" in verify(after, PUBLIC, other).problems[0]
    first = written(tmp_path / "first", Week.parse("2026-W46"))
    assert "no report before it" in verify(first, PUBLIC, report).problems[0]


def test_a_damaged_report_before_is_seen(copied: Path, tmp_path: Path) -> None:
    after = written(tmp_path / "W46", Week.parse("2026-W46"), _before(copied))
    (copied / "leaks.csv").write_text("nothing\n")
    [problem] = verify(after, PUBLIC, copied).problems
    assert problem.startswith("the report before: leaks.csv")


def test_of_very_many_problems_the_first_are_said_and_how_many_more(copied: Path) -> None:
    for number in range(70):
        (copied / f"more-{number}").write_text("")
    lines = verified_lines(verify(copied, PUBLIC))
    assert (len(lines), lines[-1]) == (52, "  and 20 more")
