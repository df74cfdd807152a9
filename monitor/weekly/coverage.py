"""What was looked at: the coverage map, and each stratum with what it leaves possible."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from monitor.conventions import NotProbed
from monitor.detect.binomial import CONFIDENCE, exchanges_to_show, upper_bound
from monitor.store.week_reader import Tally
from monitor.weekly.inputs import KnownTarget, Place
from monitor.weekly.record import CellRow, CellState, StratumRow

# With so few answers in a week not even a fault in every tenth of them would have shown.
LEAST_ANSWERS = exchanges_to_show(0.1)
# Where less of what was asked could be judged, what was judged stands for nothing.
LEAST_VALID_SHARE = 0.5
_NOTHING = Tally()
_Cell = tuple[str, str, str]


def strata_of(
    target: KnownTarget | None, name: str, found: Mapping[Place, Tally]
) -> tuple[StratumRow, ...]:
    """Return every stratum of a target that is planned or was asked."""
    planned = frozenset(target.planned) if target is not None else frozenset()
    places = sorted({*planned, *found}, key=lambda each: (each.shape, each.probe, each.stratum))
    return tuple(
        _stratum(name, each, each in planned, found.get(each, _NOTHING)) for each in places
    )


def _stratum(target: str, place: Place, planned: bool, tally: Tally) -> StratumRow:
    return StratumRow(
        target=target,
        probe=place.probe,
        shape=place.shape,
        stratum=place.stratum,
        planned=planned,
        good=tally.good,
        bad=tally.bad,
        errors=tally.errors,
        invalid=tally.invalid,
        bad_at_most=upper_bound(tally.bad, tally.valid),
        shown_at_least=least_shown(tally.valid),
    )


def least_shown(valid: int) -> float | None:
    """Return the least rate of bad answers that would have shown at least once with 95 %."""
    return upper_bound(0, valid, CONFIDENCE) if valid else None


def map_of(strata: Iterable[StratumRow]) -> tuple[CellRow, ...]:
    """Return the map of one target: each shape at each length and concurrency that there are.

    A cell that no plan asks is in it like one that fails. A length that only one shape knows (an
    edge of its own, a mixture) is no length of the others.
    """
    rows = list(strata)
    cells: dict[_Cell, list[StratumRow]] = defaultdict(list)
    for row in rows:
        length, concurrency = axes(row.stratum)
        cells[row.shape, length, concurrency].append(row)
    shapes = sorted({row.shape for row in rows})
    known = {(shape, length) for shape, length, _ in cells}
    shared = {length for _, length in known if sum(each[1] == length for each in known) > 1}
    lengths = sorted({cell[1] for cell in cells}, key=length_order)
    concurrencies = sorted({cell[2] for cell in cells}, key=concurrency_order)
    return tuple(
        _cell(rows[0].target, (shape, length, concurrency), cells.get((shape, length, concurrency)))
        for shape in shapes
        for length in lengths
        for concurrency in concurrencies
        if (shape, length) in known or length in shared
    )


def _cell(target: str, cell: _Cell, rows: list[StratumRow] | None) -> CellRow:
    shape, length, concurrency = cell
    tally = _NOTHING
    for row in rows or ():
        tally = tally.plus(
            Tally(good=row.good, bad=row.bad, errors=row.errors, invalid=row.invalid)
        )
    return CellRow(
        target=target,
        shape=shape,
        length=length,
        concurrency=concurrency,
        state=_state(tally, rows),
        good=tally.good,
        bad=tally.bad,
        errors=tally.errors,
        invalid=tally.invalid,
        bad_at_most=upper_bound(tally.bad, tally.valid),
    )


def _state(tally: Tally, rows: list[StratumRow] | None) -> CellState:
    if tally.bad:
        return CellState.FAILING
    if rows is None:
        return CellState.NOT_PLANNED
    if not tally.asked:
        return CellState.NEVER_PROBED
    return _judged_state(tally, rows) if tally.valid else CellState.NOT_ANSWERED


def _judged_state(tally: Tally, rows: list[StratumRow]) -> CellState:
    """Return what is known of a cell without a bad answer and with a good one."""
    planned = [row for row in rows if row.planned]
    if any(not row.good + row.bad for row in planned):
        return CellState.PARTLY
    if tally.valid < LEAST_ANSWERS or tally.valid < LEAST_VALID_SHARE * tally.asked:
        return CellState.FEW
    # A cell adds its strata up: one that is hardly judged is not made up for by another.
    return CellState.PARTLY if any(map(mostly_unjudged, planned)) else CellState.CLEAN


def mostly_unjudged(row: StratumRow) -> bool:
    """True if less than half of what was asked there could be judged; false if nothing was."""
    valid = row.good + row.bad
    return valid < LEAST_VALID_SHARE * (valid + row.errors + row.invalid)


def sizes_of(target: KnownTarget) -> dict[str, frozenset[str]]:
    """Return the sizes of a target's plan, each with the codes by which strata of it are left out.

    One that is planned has the code "".
    """
    found: dict[str, set[str]] = defaultdict(set)
    for place in target.planned:
        found[size_of(place.stratum)].add("")
    for gap in target.gaps:
        # One without a probe is no stratum: a model that nobody asks.
        if gap.probe:
            found[size_of(gap.stratum)].add(gap.code)
    return {size: frozenset(codes) for size, codes in found.items()}


def is_harsh(codes: frozenset[str]) -> bool:
    """True for a size that is left out as not gentle, and for no other reason."""
    return codes == {NotProbed.NOT_GENTLE.value}


def size_of(stratum: str) -> str:
    """Return the size of a stratum's prompts, as coverage counts them: its length."""
    return axes(stratum)[0]


def axes(stratum: str) -> tuple[str, str]:
    """Return length and concurrency of a stratum; one of another form is a length of its own."""
    parts = stratum.split("/")
    return (parts[0], parts[1]) if len(parts) == 5 else (stratum or "-", "-")  # noqa: PLR2004


def length_order(length: str) -> tuple[int, float, str]:
    """Return what sorts lengths: words first, then sizes as numbers."""
    digits = "".join(c for c in length if c.isdigit() or c == ".").strip(".")
    try:
        size = float(digits) * (1000 if "k" in length.lower() else 1)
    except ValueError:
        return 0, 0.0, length
    return 1, size, length


def concurrency_order(concurrency: str) -> tuple[int, str]:
    """Return what sorts concurrencies: by number."""
    digits = concurrency.removeprefix("c")
    return (int(digits) if digits.isdecimal() else -1, concurrency)
