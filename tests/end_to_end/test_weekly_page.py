"""The page of a weekly report prints in a real browser, and nothing in it acts there."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from monitor.weekly.html import html_of
from monitor.weekly.record import CellState
from monitor.weekly.text import harmless
from tests.unit.weekly.samples import a_cell, a_report

SECONDS = 120
HOSTILE = (
    "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">\u202e"
)


@pytest.fixture
def browser() -> str:
    found = shutil.which("chromium")
    assert found is not None, "chromium is missing: apt-get install chromium"
    return found


@pytest.fixture
def page(tmp_path: Path) -> Path:
    cells = tuple(a_cell(state, length=state.value) for state in CellState)
    file = tmp_path / "report.html"
    file.write_bytes(html_of(harmless(a_report(HOSTILE, coverage=cells))))
    return file


def run(browser: str, folder: Path, *arguments: str) -> str:
    command = [
        *(browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer"),
        *(f"--user-data-dir={folder / 'browser'}", *arguments),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=True)
    return done.stdout


def test_any_page_prints_to_a_small_pdf_of_several_pages(
    browser: str, page: Path, tmp_path: Path
) -> None:
    pdf = tmp_path / "report.pdf"
    run(browser, tmp_path, f"--print-to-pdf={pdf}", page.as_uri())
    content = pdf.read_bytes()
    assert content.startswith(b"%PDF-")
    assert content.rstrip().endswith(b"%%EOF")
    counts = [int(count) for count in re.findall(rb"/Count (\d+)", content)]
    assert max(counts) >= 3
    assert len(content) < 3_000_000


def test_what_a_target_said_runs_in_no_browser(browser: str, page: Path, tmp_path: Path) -> None:
    shown = run(browser, tmp_path, "--dump-dom", page.as_uri())
    assert "<title>Integrity report 2026-W45, lab</title>" in shown
    assert "<script" not in shown
    assert "<img" not in shown
    assert "&lt;script&gt;document.title" in shown


def test_the_policy_of_the_page_forbids_scripts_even_if_one_stood_in_it(
    browser: str, page: Path, tmp_path: Path
) -> None:
    script = b"<script>document.title='owned'</script>"
    content = page.read_bytes()
    page.write_bytes(content.replace(b"</body>", script + b"</body>"))
    assert "<title>Integrity report" in run(browser, tmp_path, "--dump-dom", page.as_uri())
    bare = re.sub(rb"<meta http-equiv=[^>]*>", b"", page.read_bytes())
    page.write_bytes(bare)
    assert "<title>owned</title>" in run(browser, tmp_path, "--dump-dom", page.as_uri())
