"""Where objectives come from: the shipped files, a user's configuration, a user's folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from monitor.config import Config
from monitor.config.crosscheck import slo_problems
from monitor.config.load import load_document
from monitor.config.problems import ConfigErrors
from monitor.config.slos import ProductionSeries, ProductionSource, Slo, SloFile
from monitor.errors import ConfigError
from monitor.slo.objective import Objective, Sli
from monitor.slo.production import Production, ProductionMetric

MAX_FILES = 100
# Objectives whose series the shipped rules make: another of the same name would double them.
SHIPPED_NAMES = frozenset(
    {"semantic", "semantic-by-probe", "availability", "latency", "first-token", "nodes", "coverage"}
)
_HUNDRED = 100
_SCALES = {"seconds": 1, "milliseconds": 1000}

# Valid events a day of a target or of one of its probes, and who says so.
Volume = Callable[[Slo], tuple[float, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """What files of objectives hold, in the order of file and place."""

    slos: tuple[Slo, ...]
    production: tuple[Production, ...]


def sources_folder() -> Path:
    """Return the shipped alerts: in a wheel, or in a checkout."""
    package = Path(__file__).resolve().parents[1]
    inside = package / "shipped" / "alerts"
    return inside if inside.is_dir() else package.parent / "alerts"


def sources_of(folder: Path) -> Sources:
    """Read every ``*.yaml`` of a folder. Raises ``ConfigError``, also if there is none."""
    if not folder.is_dir():
        raise ConfigError("no such folder", file=folder, remedy="name a folder of objectives")
    files = sorted(folder.glob("*.yaml"))
    if not 0 < len(files) <= MAX_FILES:
        problem = f"expected 1 to {MAX_FILES} files *.yaml"
        raise ConfigError(problem, file=folder, remedy="name a folder of objectives")
    read = list(_documents(files))
    production = [_production(each) for file in read for each in file.production]
    return Sources(
        slos=tuple(slo for file in read for slo in file.slos), production=tuple(production)
    )


def own_sources(config: Config) -> Sources:
    """Return the objectives of a configuration, read from their folder if it names one.

    Raises ``ConfigErrors`` for everything that is wrong with them, each with file, line and remedy.
    """
    given = config.settings.slos
    if isinstance(given, str):
        found = sources_of(config.file.parent / given)
    else:
        found = Sources(slos=given, production=())
    named = [target.name for target in config.settings.targets]
    problems = [*slo_problems(found.slos, named), *_shipped_names(found.slos)]
    if problems:
        raise ConfigErrors(problems)
    return found


def _documents(files: Sequence[Path]) -> Iterator[SloFile]:
    """Yield what each file holds. Raises ``ConfigErrors`` of all of them, once all are read."""
    problems: list[ConfigError] = []
    for file in files:
        try:
            yield load_document(SloFile, file)
        except ConfigErrors as several:
            problems += several.errors
        except ConfigError as error:
            problems.append(error)
    if problems:
        raise ConfigErrors(problems)


def stated_volume(slo: Slo) -> tuple[float, str]:
    """Return the volume an objective states. Raises ``ConfigError`` if it states none."""
    if slo.volume is None:
        place = slo.place_of("name")
        raise ConfigError(
            "states no volume, and no plan says one",
            file=place.file,
            line=place.line,
            path=place.path,
            remedy="add volume: valid events a day",
        )
    return float(slo.volume), f"as stated, {slo.volume:,} a day"


def objectives_of(slos: Iterable[Slo], env: str, volume: Volume) -> tuple[Objective, ...]:
    """Return objectives as records; ``env`` narrows them to one environment, unless empty."""
    return tuple(_objective(slo, env, volume) for slo in slos)


def _shipped_names(slos: Sequence[Slo]) -> Iterator[ConfigError]:
    """Yield an error for each objective that goes by the name of a shipped one."""
    for slo in slos:
        if slo.name in SHIPPED_NAMES:
            place = slo.place_of("name")
            yield ConfigError(
                f"'{slo.name}' is the name of a shipped objective",
                file=place.file,
                line=place.line,
                path=place.path,
                remedy="choose another name",
            )


def _objective(slo: Slo, env: str, volume: Volume) -> Objective:
    sli = Sli(slo.sli)
    counted = sli is not Sli.COVERAGE
    a_day, said_by = volume(slo) if counted else (0.0, "")
    return Objective(
        name=slo.name,
        sli=sli,
        ratio=round(slo.objective / _HUNDRED, 9),
        window_seconds=int(slo.window_seconds),
        volume_a_day=a_day,
        volume_from=said_by,
        env=env,
        target=slo.target or "",
        probes=slo.probes,
        by_probe=slo.by_probe,
        within_seconds=slo.within_seconds,
        tiers=tuple(slo.tiers),
        source=slo.source or "",
        model=slo.model or "",
    )


def _production(mapped: ProductionSource) -> Production:
    return Production(
        source=mapped.source,
        requests=_metric(mapped.requests),
        duration=_metric(mapped.duration),
        first_token=_metric(mapped.first_token),
    )


def _metric(series: ProductionSeries | None) -> ProductionMetric | None:
    if series is None:
        return None
    return ProductionMetric(
        metric=series.metric,
        code=series.code or "",
        model=series.model or "",
        match=tuple(series.match.items()),
        scale=_SCALES[series.unit],
    )
