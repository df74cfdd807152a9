"""Files of Prometheus' file_sd: groups of addresses with labels, in JSON or YAML.

The format is that of https://prometheus.io/docs/prometheus/latest/configuration/configuration/
(file_sd_config): a list of ``{targets: [host:port, …], labels: {…}}``. Of the labels only ``role``,
``engine`` and ``__scheme__`` are read, and only where they hold a value known here: others are
somebody else's, and may hold anything.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from monitor.config.positions import read_yaml
from monitor.engines.faults import FaultList
from monitor.engines.json_text import NotJsonError, decode_utf8, parse_json
from monitor.engines.openai_fields import is_object, object_at
from monitor.errors import ConfigError
from monitor.nodes.record import Role

MAX_FILES = 100
MAX_FILE_BYTES = 500_000
MAX_TARGETS = 2_000
_MAX_VALUES = 100_000
_SUFFIXES = frozenset({".json", ".yaml", ".yml"})
_ROLES = {role.value: role for role in Role}
_SCHEMES = {"http": 80, "https": 443}
_NAME = r"[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9_])?"
_TARGET = re.compile(rf"({_NAME}|\[[0-9A-Fa-f:.]{{2,45}}\])(?::([0-9]{{1,5}}))?", re.ASCII)
_HIGHEST_PORT = 65_535
_SHOWN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", re.ASCII)


class BadFileError(Exception):
    """A file that cannot be used; ``why`` is our own word, without a word of the file's."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One address of a file, with what its labels say of it."""

    scheme: str
    host: str
    port: int
    role: Role | None = None
    engine: str | None = None

    @property
    def name(self) -> str:
        """Host and port, as a node goes by."""
        return f"{self.host}:{self.port}"

    @property
    def url(self) -> str:
        """Where its own endpoints are."""
        return f"{self.scheme}://{self.name}"


def files_of(pattern: str, folder: Path) -> tuple[Path, ...]:
    """Return the files that ``pattern``, relative to ``folder``, stands for, in order of name.

    As in Prometheus ``*`` may stand in the file's name only, and a name ends in .json, .yaml or
    .yml. Raises ``BadFileError`` where there are none, or too many.
    """
    whole = folder / pattern
    try:
        found = sorted(each for each in whole.parent.glob(whole.name) if each.is_file())
    except (OSError, ValueError, NotImplementedError):
        raise BadFileError("the files cannot be listed") from None
    if not found:
        raise BadFileError("no such file")
    if len(found) > MAX_FILES:
        raise BadFileError(f"over {MAX_FILES} files")
    if any(each.suffix not in _SUFFIXES for each in found):
        raise BadFileError("a file whose name ends neither in .json nor in .yaml or .yml")
    return tuple(found)


def shown_name(file: Path) -> str:
    """Return the name of a file without its folders, if it is plain enough to be shown."""
    return file.name if _SHOWN.fullmatch(file.name) else "a file"


def read_file(file: Path, *, scheme: str, engines: Collection[str]) -> tuple[Listed, ...]:
    """Return the addresses in ``file``. Raises ``BadFileError`` if any part of it is wrong.

    A file that is half written is wrong, so that half a fleet is never taken for the whole.
    """
    try:
        with file.open("rb") as handle:
            raw = handle.read(MAX_FILE_BYTES + 1)
    except OSError:
        raise BadFileError("cannot be read") from None
    if len(raw) > MAX_FILE_BYTES:
        raise BadFileError(f"over {MAX_FILE_BYTES} bytes")
    return parse_file(raw, yaml=file.suffix != ".json", scheme=scheme, engines=engines)


def parse_file(
    raw: bytes, *, yaml: bool, scheme: str, engines: Collection[str]
) -> tuple[Listed, ...]:
    """Return the addresses in the text of a file; ``BadFileError`` as above."""
    groups = _yaml(raw) if yaml else _json(raw)
    if not isinstance(groups, list):
        raise BadFileError("not a list of groups")
    found: list[Listed] = []
    for group in groups:
        found += _group(group, scheme, engines)
        if len(found) > MAX_TARGETS:
            raise BadFileError(f"over {MAX_TARGETS} targets")
    return tuple(dict.fromkeys(found))


def _json(raw: bytes) -> object:
    try:
        return parse_json(raw, FaultList(), max_values=_MAX_VALUES)
    except NotJsonError as error:
        raise BadFileError(error.reason) from None


def _yaml(raw: bytes) -> object:
    text = decode_utf8(raw, FaultList())
    if text.count("\n") + text.count(",") > _MAX_VALUES:
        raise BadFileError("too many values")
    try:
        document = read_yaml(text, Path("file_sd"))
    except ConfigError:
        raise BadFileError("not YAML") from None
    if document.problems:
        raise BadFileError("uses parts of YAML that are not read here, or a key twice")
    return document.data


def _group(group: object, scheme: str, engines: Collection[str]) -> Iterator[Listed]:
    targets = group.get("targets") if is_object(group) else None
    if not isinstance(targets, list):
        raise BadFileError("a group without a list of targets")
    labels = object_at(group, "labels")
    said = labels.get("__scheme__")
    scheme = said if isinstance(said, str) and said in _SCHEMES else scheme
    role, engine = labels.get("role"), labels.get("engine")
    for target in targets:
        host, port = _host_and_port(target, scheme)
        yield Listed(
            scheme=scheme,
            host=host,
            port=port,
            role=_ROLES.get(role) if isinstance(role, str) else None,
            engine=engine if isinstance(engine, str) and engine in engines else None,
        )


def _host_and_port(target: object, scheme: str) -> tuple[str, int]:
    found = _TARGET.fullmatch(target) if isinstance(target, str) else None
    port = int(found[2] or _SCHEMES[scheme]) if found else 0
    if found is None or not 0 < port <= _HIGHEST_PORT:
        raise BadFileError("a target that is no host with a port")
    return found[1].lower(), port
