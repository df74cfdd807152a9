"""What `rules build` and `rules check` build from: the shipped files, or a configuration."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import yaml

from monitor.config import Config
from monitor.config.slos import Slo
from monitor.configured import choices_of, golden_prompts, read_config, target_view
from monitor.dayplan.plan import day_plan
from monitor.errors import UsageError
from monitor.prompts import GoldenPrompt
from monitor.slo import (
    Built,
    Links,
    objectives_of,
    own_rules,
    own_sources,
    shipped_rules,
    sources_folder,
    sources_of,
    stated_volume,
)

_LARGEST = 4_000_000


def shipped_folder() -> Path:
    """Return the folder of rules, sources and runbooks that comes with Davylamp."""
    return sources_folder()


def checkout() -> Path:
    """Return ``alerts`` of the checkout. Raises ``UsageError`` where Davylamp is installed."""
    folder = sources_folder()
    if folder.name == "alerts" and (folder.parent / "pyproject.toml").is_file():
        return folder
    msg = (
        f"the shipped rules are built in a checkout of Davylamp; they lie ready in "
        f"{folder / 'rules'} (build your own objectives with --config davylamp.yaml --out DIR)"
    )
    raise UsageError(msg)


def built_from(config: Path | None, links: Links) -> Built:
    """Return the rules of a configuration's objectives, or the shipped ones without one."""
    if config is None:
        sources = sources_of(sources_folder() / "slos")
        objectives = objectives_of(sources.slos, "", stated_volume)
        return shipped_rules(objectives, sources.production, links)
    settings = read_config(str(config))
    sources = own_sources(settings)
    if not sources.slos and not sources.production:
        msg = f"{config}: no objective to build from (add slos; docs/slos.md shows how)"
        raise UsageError(msg)
    objectives = objectives_of(sources.slos, settings.environment, _PlannedVolume(settings))
    return own_rules(objectives, sources.production, links)


class _PlannedVolume:
    """Says how many exchanges an objective's targets are asked, where nobody states a volume.

    Each trial is at least one exchange, so it is rather too few than too many. Of several targets,
    or probes, the one that is asked least counts.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._golden: Mapping[str, GoldenPrompt] | None = None
        self._trials: dict[str, Mapping[str, float]] = {}

    def __call__(self, slo: Slo) -> tuple[float, str]:
        """Return the volume and who says so."""
        if slo.volume is not None:
            return stated_volume(slo)
        names = [slo.target] if slo.target else [target.name for target in self._config.targets]
        least = min(_asked(slo, self._trials_of(name)) for name in names)
        return least, f"by the plan, {least:,.0f} trials a day"

    def _trials_of(self, name: str) -> Mapping[str, float]:
        """Return the trials a day of each probe, by the limits the configuration states."""
        if name not in self._trials:
            target = self._config.target(name)
            if target is None:
                msg = f"no target {name!r}"
                raise UsageError(msg)
            golden = self._golden = self._golden or golden_prompts()
            view = target_view(target, golden)
            plan = day_plan(self._config, target, view, choices_of(self._config, target))
            probes = {stratum.probe for stratum in plan.strata}
            self._trials[name] = {probe: sum(plan.rates(probe).values()) for probe in probes}
        return self._trials[name]


def _asked(slo: Slo, trials: Mapping[str, float]) -> float:
    chosen = [a_day for probe, a_day in trials.items() if not slo.probes or probe in slo.probes]
    if not chosen:
        return 0.0
    return min(chosen) if slo.by_probe else sum(chosen)


def found_in(folder: Path) -> dict[str, str]:
    """Return the rule files of a folder by name. Raises ``UsageError`` if there are none."""
    if not folder.is_dir():
        msg = f"{folder}: no such folder"
        raise UsageError(msg)
    files = sorted([*folder.glob("*.yml"), *folder.glob("*.yaml")])
    if not files:
        msg = f"{folder}: no rule files, *.yml (write some with davylamp rules build)"
        raise UsageError(msg)
    return {file.name: _text_of(file) for file in files}


def _text_of(file: Path) -> str:
    try:
        if file.stat().st_size > _LARGEST:
            msg = f"{file}: larger than {_LARGEST:,} bytes, which no rule file is"
            raise UsageError(msg)
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        msg = f"{file}: cannot be read as text"
        raise UsageError(msg) from None


def broken(text: str) -> str | None:
    """Return in words why a text is no file of rules, or ``None`` if it is one."""
    try:
        parsed = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        return f"no YAML{line}"
    if not isinstance(parsed, dict) or not isinstance(parsed.get("groups"), list):
        return "no file of rules: it has no groups"
    return None
