"""What to do about a fact of a node that was not read, in the words of the configuration. Pure."""

from __future__ import annotations

import re

_REFUSED = re.compile(r"\bHTTP (401|403)\b")
_REMEDIES = {
    "not among those that may be read": "add its range to nodes.addresses, if it is one of yours",
    "in the time that a node has": "nodes.timeout says how long that is",
}


def is_refused(why: str) -> bool:
    """Return true if a fact was not read because a credential was refused, or none was given."""
    return _REFUSED.search(why) is not None


def cause_of(fact: str, why: str) -> str | None:
    """Return what has to be mended first, since other facts hang on it; ``None`` for any other."""
    if refused := _REFUSED.search(why):
        return (
            f"its token is refused, or it wants one (HTTP {refused[1]}): set token_env or "
            "token_file of the node, --token-env with --node"
        )
    if fact == "role":
        return f"its role is not known, on which rules hang: {why}"
    return None


def remedy_of(why: str) -> str:
    """Return why a fact was not read, with the setting that has to do with it, if one has."""
    for end, remedy in _REMEDIES.items():
        if why.endswith(end):
            return f"{why} ({remedy})"
    return why
