"""The page: whole, small, and nothing in it acts, whatever a target or node said."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import re
from dataclasses import replace
from datetime import timedelta
from html.parser import HTMLParser

import pytest

from monitor.weekly.cells import cell
from monitor.weekly.files import Format, files_of
from monitor.weekly.html import MOST_BYTES, MOST_PICTURES, MOST_ROWS, html_of
from monitor.weekly.pictures import days_picture, findings_picture, map_picture
from monitor.weekly.record import CellState, DayRow, StratumRow, TargetRow
from monitor.weekly.tables import TITLES, row_type, tables_of
from monitor.weekly.text import harmless
from tests.unit.weekly.samples import WEEK, a_cell, a_finding, a_report, a_row

HOSTILE = "\"'><script>alert(1)</script><img src=x onerror=alert(2)>\u202e{{ 7*7 }}</style>&amp;"
AT = WEEK.since + timedelta(days=2)
# Findings stand one below the other, so far apart.
ROW = 26
# What may stand in a page of ours.
ELEMENTS = {
    *("html", "head", "meta", "title", "style", "body", "h1", "h2", "h3", "p", "strong", "span"),
    *("code", "nav", "ul", "li", "a", "div", "table", "thead", "tbody", "tr", "th", "td"),
    *("svg", "rect", "text", "line", "path", "polygon", "defs", "g", "use"),
}


class Page(HTMLParser):
    """Reads which elements and attributes a page has, and the texts of its tables."""

    def __init__(self, page: bytes) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: set[str] = set()
        self.attributes: set[tuple[str, str]] = set()
        self.tables: dict[str, list[list[str]]] = {}
        self.links: list[str] = []
        self._name, self._cell = "", None
        self.feed(page.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        self.attributes |= {(tag, name) for name, _ in attrs}
        given = dict(attrs)
        if tag == "h2":
            self._name = given["id"] or ""
            self.tables[self._name] = []
        elif tag == "tr" and self._name:
            self.tables[self._name].append([])
        elif tag in {"td", "th"}:
            self._cell = ""
        self.links += [given["href"] or ""] if "href" in given else []

    def handle_endtag(self, tag: str) -> None:
        if tag in {"td", "th"}:
            self.tables[self._name][-1].append(self._cell or "")
            self._cell = None

    def handle_data(self, data: str) -> None:
        if self._cell is not None:
            self._cell += data


def test_every_table_of_the_machine_formats_is_the_page_s() -> None:
    report = a_report()
    shown = Page(html_of(report)).tables
    assert list(shown) == list(TITLES)
    for table in tables_of(report)[1:]:
        names = [column.name for column in table.columns]
        texts = [[cell(n, v) for n, v in zip(names, row, strict=True)] for row in table.rows]
        assert shown[table.name][1:] == texts, table.name


def test_what_was_not_looked_at_comes_directly_below_the_targets() -> None:
    assert list(Page(html_of(a_report())).tables)[:2] == ["targets", "not_looked_at"]


def test_hostile_text_is_text() -> None:
    page = html_of(harmless(a_report(HOSTILE)))
    read = Page(page)
    assert read.elements <= ELEMENTS
    assert not [name for _, name in read.attributes if name.startswith("on") or name == "style"]
    assert all(link.startswith("#") for link in read.links)
    assert "\u202e" not in page.decode()
    assert b"[U+202E]" in page
    assert b"alert(1)&lt;/script&gt;" in page
    assert read.tables["methods"][1] == [HOSTILE.replace("\u202e", "[U+202E]")] * 2


def test_the_page_runs_nothing_and_loads_nothing() -> None:
    page = html_of(a_report()).decode()
    [policy] = re.findall(r'Content-Security-Policy" content="([^"]+)"', page)
    [style] = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'sha256-{digest}';" in policy.replace("&#39;", "'")
    assert not re.search(
        r"<script|<link|<iframe|src=|url\(|@import|https?://(?!www\.w3\.org)", page
    )


def test_a_page_says_how_many_rows_it_leaves_out_and_where_they_are() -> None:
    rows = tuple(a_row(StratumRow) for _ in range(MOST_ROWS + 3))
    report = a_report(strata=rows)
    for beside, where in (
        (["html", "json", "csv", "parquet"], "stand in strata.csv, strata.parquet and report.json"),
        (["parquet", "html"], "stand in strata.parquet"),
        (["csv", "json"], "stand in strata.csv and report.json"),
        (["html"], "are left out: build with json for the rest"),
    ):
        page = html_of(report, beside).decode()
        assert f"<strong>3 more rows</strong> {where}.</p>" in page


def test_a_page_names_only_files_that_are_written() -> None:
    rows = tuple(a_row(StratumRow) for _ in range(MOST_ROWS + 3))
    for formats in ([Format.HTML], [Format.HTML, Format.CSV], list(Format)):
        files = files_of(a_report(strata=rows), formats)
        named = re.findall(r"[a-z_]+\.(?:csv|parquet|json)", files["report.html"].decode())
        assert set(named) <= set(files)
        assert len(named) == len(formats) - 1


def test_of_findings_that_are_cut_the_worst_stay_in_table_and_picture() -> None:
    mild = [a_finding(finding=f"F-{n}", finding_class="SUSPECT") for n in range(MOST_ROWS + 50)]
    open_leak, closed = a_finding(finding="F-OPEN"), a_finding(finding="F-CLOSED", closed_at=AT)
    dismissed = a_finding(finding="F-NONE", state="dismissed", closed_at=AT)
    crossed = a_finding(finding="F-CROSSED", finding_class="CROSSED", target="crossed")
    page = html_of(a_report(findings=(*mild, dismissed, closed, crossed, open_leak)))
    shown = [row[0] for row in Page(page).tables["findings"][1:]]
    assert shown[:4] == ["F-OPEN", "F-CLOSED", "F-CROSSED", "F-0"]
    assert "F-NONE" not in shown
    picture = page.decode().split('<h2 id="findings">')[1].split("</svg>")[0]
    assert [picture.count(f">{name}<") for name in ("LEAK glm", "CROSSED crossed")] == [2, 1]
    assert f"Drawn are the worst {MOST_PICTURES} of {MOST_ROWS + 54}." in page.decode()
    assert b"Drawn are the worst" not in html_of(a_report(findings=(open_leak, closed)))


@pytest.mark.parametrize(
    ("name", "mild", "worst"),
    [
        ("leaks", {"verdict_class": "CROSSED"}, {"verdict_class": "LEAK"}),
        ("leaks", {"answers": 7}, {"answers": 8}),
        ("rescored", {"verdict_class": "WRONG"}, {"verdict_class": "CORRUPT"}),
        ("without_finding", {"verdict_class": "WRONG"}, {"verdict_class": "CROSSED"}),
        ("without_finding", {"verdict_class": "LEAK"}, {"verdict_class": "NEWER"}),
        ("drift", {"finding": "F-1"}, {"finding": ""}),
        ("drift", {"at": AT}, {"at": AT + timedelta(hours=1)}),
        ("streams", {"alarmed_at": None}, {"alarmed_at": AT}),
        ("streams", {"alarms_at_least": 0.5}, {"alarms_at_least": None}),
        ("streams", {"alarms_at_least": 0.1}, {"alarms_at_least": 0.2}),
    ],
)
def test_of_what_is_cut_the_worst_row_stays(
    name: str, mild: dict[str, object], worst: dict[str, object]
) -> None:
    row = a_row(row_type(name))
    rows = (*[replace(row, **mild)] * MOST_ROWS, replace(row, **worst, target="the-worst"))
    shown = Page(html_of(a_report(**{name: rows}))).tables[name]
    assert (len(shown), shown[1][0]) == (MOST_ROWS + 1, "the-worst")


def test_where_detection_and_page_fall_together_both_are_seen() -> None:
    week = a_report()
    picture = findings_picture([a_finding(detected_at=AT, paged_at=AT)], week.since, week.until)
    diamond, triangle = (
        [float(point.split(",")[1]) for point in points.split()]
        for points in re.findall(r'<polygon points="([^"]+)"', picture)
    )
    assert max(diamond) + 1 < min(triangle)
    assert max(triangle) - min(diamond) < ROW


def test_every_figure_of_a_picture_stays_in_its_place() -> None:
    cells = [a_cell(CellState.FAILING, bad=10**n, bad_at_most=0.1234) for n in range(8)]
    map_texts, days = map_picture(cells), days_picture([a_day(10**n) for n in range(8)])
    for picture, text in ((map_texts, "10,000,000 bad ≤12.34 %"), (days, "3 bad of 10,000,003")):
        [drawn] = re.findall(rf"<text ([^>]*)>{text}<", picture)
        assert 0 < int(re.findall(r'textLength="(\d+)"', drawn)[0]) < 100
    assert "textLength" not in map_picture(cells[:2])
    assert "textLength" not in days_picture([a_day(10)])


def a_day(good: int) -> DayRow:
    return a_row(DayRow, good=good, bad=3, errors=0, invalid=0)


def test_a_narrow_screen_scrolls_pictures_and_each_says_whose_it_is() -> None:
    page = html_of(a_report()).decode()
    drawn = re.findall(r'<div class="scroll"><svg[^>]*>\s*<title>([^<]*)</title>', page)
    assert page.count('role="img"') == len(drawn) == 3
    assert sum("glm" in title for title in drawn) == 2
    assert re.search(r"max-width: 800px\) \{[^@]*\.scroll svg \{ max-width: none; \}", page)


def test_a_page_stays_small_however_much_there_is() -> None:
    text = "w" * 500
    many = {name: tuple(_rows(name, text)) for name in ("strata", "changes", "not_looked_at")}
    targets = tuple(a_row(TargetRow, target=f"target-{n:04d}") for n in range(1_000))
    cells = tuple(
        a_cell(CellState.CLEAN, target=f"target-{n:04d}", length=f"{k}k")
        for n in range(60)
        for k in range(40)
    )
    page = html_of(a_report(targets=targets, coverage=cells, **many))
    assert len(page) < MOST_BYTES
    assert b"more rows" in page or b"rows</strong>" in page


def _rows(name: str, text: str) -> list[object]:
    [table] = [getattr(a_report(text), name)]
    return [table[0]] * 5_000


def test_a_week_without_data_says_so_first() -> None:
    page = html_of(dataclasses.replace(a_report(), has_data=False, chain=None)).decode()
    assert page.index("No data") < page.index("<h2")
    assert "no audit chain" in page


def test_what_a_target_was_found_to_be_has_a_colour_of_its_own() -> None:
    states = ["fails below what it says", "confirmed", *(each.value for each in CellState)]
    css = re.findall(r"<style>(.*?)</style>", html_of(a_report()).decode(), re.DOTALL)[0]
    for state in states:
        assert re.search(rf"\.{re.sub('[ _]', '-', state)}[ ,]", css), state


@pytest.mark.parametrize(
    ("name", "well", "old"),
    [
        ("context", {"state": "verified as advertised", "in_week": True}, {"in_week": False}),
        ("nodes", {"conformity": "pass"}, {"longest_unknown_hours": 12.5}),
        ("nodes", {"conformity": "pass", "unknown_ratio": 0.1}, {"unknown_ratio": 0.11}),
    ],
)
def test_what_was_well_before_is_not_green_now(
    name: str, well: dict[str, object], old: dict[str, object]
) -> None:
    row = a_row(row_type(name), **({"unknown_ratio": 0.0} if name == "nodes" else {}) | well)
    for given, count in ((row, 1), (replace(row, **old), 0)):
        page = html_of(a_report(**{name: (given,)})).decode()
        table = page.split(f'<h2 id="{name}">')[1].split("</table>")[0]
        assert len(re.findall(r"class=(?:pass|verified-as-advertised)>", table)) == count


def test_of_a_week_without_data_nothing_reads_as_well() -> None:
    none = dict.fromkeys(TITLES, ())
    page = html_of(dataclasses.replace(a_report(**none), has_data=False))
    assert page.count(b"None. Nothing was judged, so that says nothing.") == len(TITLES)
    assert b"Nothing was judged, so" not in html_of(a_report(**none))
