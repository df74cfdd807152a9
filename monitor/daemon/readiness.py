"""What targets say of themselves, asked a few at a time and believed for a while."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

from monitor.app import Installation
from monitor.checking import ready
from monitor.daemon.watch import Watch
from monitor.live import LiveTarget

# How long what a target says of its limits is believed.
DISCOVERY_SECONDS = 600.0
# So many targets are asked at once.
AT_ONCE = 16


class Readiness:
    """The targets as they stand. Nobody waits for one that is known: it is asked again beside.

    ``follow`` is told of a target each time it has spoken.
    """

    def __init__(
        self, installation: Installation, watch: Watch, follow: Callable[[LiveTarget], None]
    ) -> None:
        self._installation = installation
        self._watch = watch
        self._follow = follow
        self._known: dict[str, tuple[float, LiveTarget]] = {}
        self._asking: dict[str, asyncio.Task[LiveTarget]] = {}
        self._places = asyncio.Semaphore(AT_ONCE)

    def start(self) -> None:
        """Begin to ask every target."""
        for target in self._installation.config.targets:
            self._ask(target.name)

    def stop(self) -> None:
        """Ask no more."""
        for task in tuple(self._asking.values()):
            task.cancel()

    def renew(self, target: str) -> None:
        """Ask a target again beside whoever waits: it is held to something else from now on."""
        self._ask(target)

    def known(self, target: str) -> LiveTarget:
        """Return a target as it is known now, by its configuration if it has not spoken yet."""
        known = self._known.get(target)
        return known[1] if known else self._installation.targets[target]

    async def ready(self, target: str) -> LiveTarget:
        """Return a target that has spoken; one that did so lately is not waited for."""
        known = self._known.get(target)
        now = self._installation.clock.monotonic()
        if known is None:
            return await asyncio.shield(self._ask(target))
        if now - known[0] > DISCOVERY_SECONDS:
            self._ask(target)
        return known[1]

    def _ask(self, target: str) -> asyncio.Task[LiveTarget]:
        task = self._asking.get(target)
        if task is None:
            task = self._asking[target] = asyncio.create_task(self._discover(target))
            task.add_done_callback(lambda _: self._asking.pop(target, None))
        return task

    async def _discover(self, name: str) -> LiveTarget:
        target = self._installation.config.target(name)
        if target is None:
            return self._installation.targets[name]
        async with self._places:
            live, discovery = await ready(self._installation, target)
        known = self._known.get(name)
        if known is not None and discovery.notes:
            live = _not_less_than(known[1], live)
        self._known[name] = (self._installation.clock.monotonic(), live)
        self._watch.note_version(name, discovery.version)
        self._follow(live)
        return live


def _not_less_than(before: LiveTarget, now: LiveTarget) -> LiveTarget:
    """Return a target as it speaks now, with what it stated before where a page was not read.

    A page that could not be read once is no word that a limit is gone.
    """
    limits, engine = now.view.limits, now.view.engine or before.view.engine
    if len(limits) < len(before.view.limits):
        limits = before.view.limits
    return replace(now, view=replace(now.view, limits=limits, engine=engine))
