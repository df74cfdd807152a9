"""The base of every part of the configuration."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import BaseModel, ConfigDict, PrivateAttr

from monitor.config.positions import Loc, Positions, path_of
from monitor.config.problems import wrong
from monitor.config.secrets import Place, SecretRef


class Section(BaseModel):
    """Unknown keys are errors; values never change; knows the place it was written at."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    _place: Place | None = PrivateAttr(default=None)
    _positions: Positions | None = PrivateAttr(default=None)

    def stand_at(self, place: Place, positions: Positions) -> None:
        """Say where this section and those below it were written: once, while loading."""
        self._place, self._positions = place, positions
        for name, field in type(self).model_fields.items():
            key, value = field.alias or name, getattr(self, name)
            for loc, section in _sections(key, value):
                path = path_of(loc, place.path)
                below = Place(file=place.file, line=positions.line(path), path=path)
                section.stand_at(below, positions)

    def place_of(self, key: str, *below: str | int) -> Place:
        """Return where ``key`` of this section, or what is below it, stands.

        Only loaded sections know.
        """
        place, positions = self._place, self._positions
        if place is None or positions is None:
            message = "this section was not loaded from a file"
            raise LookupError(message)
        path = path_of((key, *below), place.path)
        return Place(file=place.file, line=positions.line(path), path=path)

    def secret(self, name: str) -> SecretRef | None:
        """Return the reference given as ``<name>_env`` or ``<name>_file``, or ``None``."""
        for kind in ("env", "file"):
            given = getattr(self, f"{name}_{kind}", None)
            if given is not None:
                place = self.place_of(f"{name}_{kind}")
                return SecretRef(kind=kind, name=given, place=place)
        return None

    def _only_one_of(self, name: str) -> None:
        env, file = f"{name}_env", f"{name}_file"
        if getattr(self, env) is not None and getattr(self, file) is not None:
            raise wrong(f"has both {env} and {file}", "keep one of them")


def _sections(key: str, value: object) -> Iterator[tuple[Loc, Section]]:
    if isinstance(value, Section):
        yield (key,), value
    elif isinstance(value, tuple):
        yield from (((key, i), item) for i, item in enumerate(value) if isinstance(item, Section))
