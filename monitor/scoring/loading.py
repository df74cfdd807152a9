"""Loading what is slow to load: once, and not again at once if it failed."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Generic, TypeVar

Loaded = TypeVar("Loaded")

# A missing file may be put right while we run; trying at full speed would only burn a core.
AGAIN_AFTER_SECONDS = 60.0


class LoadOnce(Generic[Loaded]):
    """Holds what ``load`` returns; a failure is raised again for a minute before the next try."""

    def __init__(
        self, load: Callable[[], Loaded], *, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._load = load
        self._now = now
        self._loaded: list[Loaded] = []
        self._failed: tuple[float, Exception] | None = None

    def get(self) -> Loaded:
        """Return what was loaded; raise what loading raised."""
        if not self._loaded:
            if self._failed is not None and self._now() < self._failed[0] + AGAIN_AFTER_SECONDS:
                raise self._failed[1].with_traceback(None)
            try:
                self._loaded.append(self._load())
            except Exception as error:
                self._failed = (self._now(), error)
                raise
        return self._loaded[0]
