"""By which parts a marker or a planted value is recognised, and the hashes kept of them."""

from __future__ import annotations

from monitor.canaries.keys import InstallationKey, PartHasher, ValueHasher
from monitor.canaries.values import SHAPES, VALUE_KINDS, Form, key_of, part_of
from monitor.model import ValueKind


def split(kind: str, text: str) -> tuple[str, ...]:
    """Return a marker's groups; a planted value is one piece."""
    return (text,) if kind in VALUE_KINDS else tuple(text.split("-"))


class PartsHasher:
    """Keyed 64-bit hashes of all parts by which an entry of the registry is found."""

    __slots__ = ("_group", "_value")

    def __init__(self, key: InstallationKey) -> None:
        self._group = PartHasher(key)
        self._value = ValueHasher(key)

    def __call__(self, kind: str, text: str) -> tuple[int, ...]:
        """Return the hash of each group of a marker, or of each form of a planted value."""
        if kind not in VALUE_KINDS:
            return tuple(self._group(place, group) for place, group in enumerate(text.split("-")))
        value = ValueKind(kind)
        key = key_of(value, text)
        return tuple(
            self.of_value(value, form, part_of(key, form)) for form in SHAPES[value].forms()
        )

    def of_value(self, kind: ValueKind, form: Form, part: str) -> int:
        """Return the hash of what one form of a planted value shows."""
        return self._value(kind, form, part)
