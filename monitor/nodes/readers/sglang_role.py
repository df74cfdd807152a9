"""Which part an SGLang server has: every page that says it is asked, and they have to agree.

The scheduler's own word stands beside the option the server was started with; a server whose role
was switched may say one thing here and another there. A word that nobody knows is a role that
nobody knows.
"""

from __future__ import annotations

from collections.abc import Iterator

from packaging.version import Version

from monitor.engines.openai_fields import object_at
from monitor.nodes.exposition import Exposition
from monitor.nodes.pages import NodePages
from monitor.nodes.readers.base import Gaps, objects
from monitor.nodes.readers.sglang_info import MODES, Told
from monitor.nodes.readers.sglang_live import LOADS
from monitor.nodes.record import Role
from monitor.nodes.scrape import Scrape

MODEL_INFO = ("/model_info", "/get_model_info")
ROLE_PAGES = (MODEL_INFO[0], LOADS)
_TYPES = MODES | {"unified": Role.UNIFIED}
_SAYS_ROLE_SINCE = Version("0.5.9")
"""Older versions call themselves unified in their metrics whatever they are: the word is written
there as it is in the packages of 0.5.3.post3 to 0.5.6.post2, and is the mode in that of 0.5.9. What
lies between was not read."""
_TWO = "the node states two roles: its pages differ"
_UNKNOWN_WORD = "a page states a role that is none of null, prefill and decode"


async def role_of(
    pages: NodePages,
    said: Told,
    exposition: Exposition | None,
    *,
    given: Role | None,
    gaps: Gaps,
) -> Role | None:
    """Return the role that all pages state, ``given`` where none says a word, else ``None``."""
    words = [*_of_options(said), *await _of_pages(pages)]
    if not pages.relayed:
        words += _of_metrics(said, exposition, {_role(each) for each in words})
    roles = {_role(each) for each in words}
    if not roles:
        return given
    if None in roles:
        gaps.add("role", _UNKNOWN_WORD)
        return None
    if len(roles) > 1:
        gaps.add("role", _TWO)
        return None
    return roles.pop()


def _role(word: object) -> Role | None:
    return _TYPES.get(word) if isinstance(word, str) else None


def _of_options(said: Told) -> Iterator[object]:
    """Yield what the options and the schedulers say; null is no word."""
    for each in (said.info, *said.states):
        if (word := each.get("disaggregation_mode")) is not None:
            yield word


async def _of_pages(pages: NodePages) -> list[object]:
    """Return the mode as the pages of the model (0.5.21 and later) and of the load state it."""
    await pages.fetch(ROLE_PAGES)
    if pages.missing(MODEL_INFO[0]):
        await pages.fetch(MODEL_INFO[1:])
    documents = [await pages.document(path) for path in MODEL_INFO if pages.asked(path)]
    words = [(document or {}).get("disaggregation_mode") for document in documents]
    loads = objects((await pages.document(LOADS) or {}).get("loads"))
    words += [object_at(each, "disaggregation").get("mode") for each in loads]
    return [each for each in words if each is not None]


def _of_metrics(
    said: Told, exposition: Exposition | None, stated: set[Role | None]
) -> frozenset[str]:
    """Return the types of engine on the page of metrics that say something of this node.

    A page that has the node's own type beside others serves the metrics of several nodes.
    """
    types = Scrape(exposition).values_of("engine_type") if exposition else frozenset()
    release = said.release
    if release is None or release < _SAYS_ROLE_SINCE:
        types -= {Role.UNIFIED.value}
    if {_TYPES.get(each) for each in types} & stated or (not stated and len(types) > 1):
        return frozenset()
    return types
