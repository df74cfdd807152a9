"""Series as a Prometheus would have scraped them, in the text that promtool turns into blocks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

_ESCAPED = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


class Samples:
    """Everything that was scraped, by family."""

    def __init__(self) -> None:
        self._lines: dict[tuple[str, str], list[str]] = defaultdict(list)

    def scrape(self, registry: CollectorRegistry, at: datetime) -> None:
        """Take what a registry exports at this instant."""
        stamp = f"{at.timestamp():.3f}"
        for family in registry.collect():
            lines = self._lines[family.name, family.type]
            for sample in family.samples:
                if sample.name.endswith("_created"):
                    continue
                pairs = (f'{k}="{v.translate(_ESCAPED)}"' for k, v in sample.labels.items())
                lines.append(f"{sample.name}{{{','.join(pairs)}}} {sample.value!r} {stamp}\n")

    def write(self, file: Path) -> None:
        """Write them as OpenMetrics."""
        with file.open("w", encoding="utf-8") as out:
            out.writelines(self._text())

    def _text(self) -> Iterator[str]:
        for (name, kind), lines in self._lines.items():
            yield f"# TYPE {name} {kind}\n"
            yield from lines
        yield "# EOF\n"
