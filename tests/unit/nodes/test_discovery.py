"""Nodes are found where the configuration says, each once, and what cannot be found is seen."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Sequence
from pathlib import Path

import pytest

from monitor.clock import SystemClock
from monitor.errors import ConfigError
from monitor.nodes.discovery import MAX_NODES, Found, NodeFinder
from monitor.nodes.guard import MAX_ADDRESSES
from monitor.nodes.record import NodeSnapshot, Role
from tests.unit.config.known import load_text

ENGINES = ("sglang", "vllm", "llama.cpp", "ollama")
ALLOWED = "nodes: {addresses: [10.0.0.0/8]}\n"
HEAD = "version: 1\ntargets:\n  - name: glm\n"
PLANTED = "sk-live-PLANTED0123456789abcdef"


class Names:
    """A resolver that knows some names, until they are changed."""

    def __init__(self, **known: Sequence[str]) -> None:
        self.known = dict(known)

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        if not self.known.get(host):
            raise socket.gaierror(socket.EAI_NONAME, f"{PLANTED} {port}")
        return self.known[host]


def _finder(folder: Path, text: str, names: Names | None = None) -> NodeFinder:
    config = load_text(folder, HEAD + text)
    return NodeFinder.of(
        config, config.served, clock=SystemClock(), engines=ENGINES, resolve=names or Names()
    )


def _find(folder: Path, text: str, names: Names | None = None) -> Found:
    return asyncio.run(_finder(folder, text, names).find())


def _urls(found: Found) -> list[str]:
    return [each.url for each in found.addresses]


def _why(found: Found) -> list[tuple[str, str]]:
    return [(each.node, each.gaps[0].why) for each in found.unread]


def test_a_listed_node_is_as_it_is_listed(tmp_path: Path) -> None:
    node = "    nodes: [{url: 'http://a:1', role: prefill, engine: sglang, metrics_url: 'http://r:9'}]\n"
    [address] = _find(tmp_path, node).addresses
    assert (address.node, address.target, address.url) == ("a:1", "glm", "http://a:1")
    assert (address.role, address.engine) == (Role.PREFILL, "sglang")
    assert address.metrics_url == "http://r:9"


def test_a_token_is_a_nodes_own_and_in_no_repr(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NODE_TOKEN", PLANTED)
    found = _find(
        tmp_path, "    nodes: [{url: 'http://a:1', token_env: NODE_TOKEN}, {url: 'http://b:1'}]\n"
    )
    assert [each.credential for each in found.addresses] == [PLANTED, None]
    assert PLANTED not in repr(found)


def test_a_token_that_is_not_there_is_an_error_at_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="NO_SUCH_TOKEN is not set"):
        _finder(tmp_path, "    nodes: [{url: 'http://a:1', token_env: NO_SUCH_TOKEN}]\n")


def test_each_address_of_a_name_is_a_node(tmp_path: Path) -> None:
    text = "    node_sources: [{dns: 'prefill.svc:30000', role: prefill}]\n" + ALLOWED
    names = Names(**{"prefill.svc": ["10.0.0.2", "10.0.0.1", "fd00::1", "10.0.0.2"]})
    found = _find(tmp_path, text, names)
    assert _urls(found) == [
        "http://10.0.0.1:30000",
        "http://10.0.0.2:30000",
        "http://[fd00::1]:30000",
    ]
    assert next(each.node for each in found.addresses) == "10.0.0.1:30000"
    assert {each.role for each in found.addresses} == {Role.PREFILL}
    assert found.unread == ()


def test_under_https_a_found_address_shows_the_certificate_of_its_name(tmp_path: Path) -> None:
    text = "    node_sources: [{dns: 'prefill.svc:443', scheme: https}]\n" + ALLOWED
    found = _find(tmp_path, text, Names(**{"prefill.svc": ["10.0.0.1", "fd00::1"]}))
    assert found.names == {
        ("https", "10.0.0.1", 443): "prefill.svc",
        ("https", "fd00::1", 443): "prefill.svc",
    }


def test_names_that_share_an_address_are_told_apart_by_their_ports(tmp_path: Path) -> None:
    sources = "{dns: 'a.svc:443', scheme: https}, {dns: 'b.svc:8443', scheme: https}"
    text = f"    node_sources: [{sources}]\n" + ALLOWED
    found = _find(tmp_path, text, Names(**{"a.svc": ["10.0.0.1"], "b.svc": ["10.0.0.1"]}))
    assert found.names == {
        ("https", "10.0.0.1", 443): "a.svc",
        ("https", "10.0.0.1", 8443): "b.svc",
    }


def _many(count: int) -> list[str]:
    return [f"10.0.{number // 250}.{number % 250 + 1}" for number in range(count)]


def test_every_address_of_a_large_name_is_a_node(tmp_path: Path) -> None:
    text = "    node_sources: [{dns: 'big.svc:1'}]\n" + ALLOWED
    found = _find(tmp_path, text, Names(**{"big.svc": _many(1_800)}))
    assert (len(found.addresses), found.unread) == (1_800, ())


def test_of_a_name_with_more_addresses_than_are_read_the_same_are_read_each_time(
    tmp_path: Path,
) -> None:
    names = Names(**{"big.svc": _many(2_500)})
    finder = _finder(tmp_path, "    node_sources: [{dns: 'big.svc:1'}]\n" + ALLOWED, names)
    found = asyncio.run(finder.find())
    assert len(found.addresses) == MAX_NODES
    assert _why(found) == [("big.svc:1", "only the first 2000 of 2500 nodes are read")]
    names.known["big.svc"] = list(reversed(names.known["big.svc"]))
    assert _urls(asyncio.run(finder.find())) == _urls(found)


@pytest.mark.parametrize(("answers", "left"), [(["10.0.0.1", "no address"], 1), ([], 300)])
def test_answers_for_a_name_that_are_not_read_are_said(
    tmp_path: Path, answers: list[str], left: int
) -> None:
    answers = answers or [f"10.1.{n // 250}.{n % 250}" for n in range(MAX_ADDRESSES + left)]
    found = _find(
        tmp_path,
        "    node_sources: [{dns: 'a.svc:1'}]\n" + ALLOWED,
        Names(**{"a.svc": [*answers, *answers]}),
    )
    assert ("a.svc:1", f"{left} more answers for the name are not read") in _why(found)


def test_a_name_without_an_address_is_a_node_that_was_not_reached(tmp_path: Path) -> None:
    text = "    node_sources: [{dns: 'gone.svc:1', role: decode}]\n" + ALLOWED
    found = _find(tmp_path, text)
    [unread] = found.unread
    assert isinstance(unread, NodeSnapshot)
    assert (unread.node, unread.target, unread.role) == ("gone.svc:1", "glm", Role.DECODE)
    assert not unread.reached
    assert _why(found) == [("gone.svc:1", "the host name has no address")]
    assert PLANTED not in repr(found)


def test_a_name_that_is_not_resolved_now_keeps_what_it_had(tmp_path: Path) -> None:
    names = Names(**{"a.svc": ["10.0.0.1"]})
    finder = _finder(tmp_path, "    node_sources: [{dns: 'a.svc:1'}]\n" + ALLOWED, names)
    assert _urls(asyncio.run(finder.find())) == ["http://10.0.0.1:1"]
    names.known.clear()
    again = asyncio.run(finder.find())
    assert _urls(again) == ["http://10.0.0.1:1"]
    assert _why(again) == [("a.svc:1", "the host name has no address; the 1 found before are read")]


FILES = "    node_sources: [{file_sd: './*.json', engine: vllm, role: decode}]\n" + ALLOWED


def _write(folder: Path, name: str, *targets: str, **labels: str) -> None:
    groups = [{"targets": list(targets), "labels": labels}]
    (folder / name).write_text(json.dumps(groups), "utf-8")


def test_nodes_of_files_have_what_their_labels_say_else_what_the_source_says(
    tmp_path: Path,
) -> None:
    _write(tmp_path, "a.json", "a:1", role="prefill", engine="sglang", password=PLANTED)
    _write(tmp_path, "b.json", "b:1")
    found = _find(tmp_path, FILES)
    assert [(each.url, each.role, each.engine) for each in found.addresses] == [
        ("http://a:1", Role.PREFILL, "sglang"),
        ("http://b:1", Role.DECODE, "vllm"),
    ]
    assert PLANTED not in repr(found)


def test_files_are_read_anew_each_time(tmp_path: Path) -> None:
    _write(tmp_path, "a.json", "a:1")
    finder = _finder(tmp_path, FILES)
    assert _urls(asyncio.run(finder.find())) == ["http://a:1"]
    _write(tmp_path, "a.json", "a:2", "a:3")
    assert _urls(asyncio.run(finder.find())) == ["http://a:2", "http://a:3"]


def test_when_no_file_is_left_the_nodes_found_before_are_kept(tmp_path: Path) -> None:
    _write(tmp_path, "a.json", "a:1")
    _write(tmp_path, "b.json", "b:1")
    finder = _finder(tmp_path, FILES)
    asyncio.run(finder.find())
    (tmp_path / "a.json").unlink()
    fewer = asyncio.run(finder.find())
    assert (_urls(fewer), fewer.unread) == (["http://b:1"], ())
    (tmp_path / "b.json").unlink()
    gone = asyncio.run(finder.find())
    assert _urls(gone) == ["http://b:1"]
    assert _why(gone) == [("file_sd ./*.json", "no such file; the 1 found before are read")]


def test_each_file_that_is_broken_is_said(tmp_path: Path) -> None:
    _write(tmp_path, "a.json", "a:1")
    (tmp_path / "b.json").write_text("[{}]", "utf-8")
    (tmp_path / f"{PLANTED}\x1b[31m.json").write_text("[", "utf-8")
    found = _find(tmp_path, FILES)
    [unread] = found.unread
    assert [each.why for each in unread.gaps] == [
        "b.json: a group without a list of targets",
        "a file: not JSON",
    ]
    assert (_urls(found), PLANTED in repr(found)) == (["http://a:1"], False)


def test_a_file_that_is_broken_now_keeps_what_it_had_and_says_so(tmp_path: Path) -> None:
    _write(tmp_path, "a.json", "a:1")
    _write(tmp_path, "b.json", "b:1")
    finder = _finder(tmp_path, FILES)
    asyncio.run(finder.find())
    (tmp_path / "a.json").write_text('[{"targets": ["a:9"', "utf-8")
    _write(tmp_path, "b.json", "b:2")
    found = asyncio.run(finder.find())
    assert _urls(found) == ["http://a:1", "http://b:2"]
    assert _why(found) == [("file_sd ./*.json", "a.json: not JSON; the 1 found before are read")]


def test_a_file_that_was_never_whole_gives_no_node_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("[{}]", "utf-8")
    found = _find(tmp_path, FILES)
    assert _urls(found) == []
    assert _why(found) == [("file_sd ./*.json", "a.json: a group without a list of targets")]


def test_a_node_that_is_found_twice_is_one_and_a_listed_one_goes_first(tmp_path: Path) -> None:
    _write(tmp_path, "a.json", "10.0.0.1:1", "b:1", "b:2")
    text = (
        "    nodes: [{name: ours, url: 'http://b:1/v1'}]\n"
        "    node_sources: [{dns: 'a.svc:1'}, {file_sd: './a.json'}]\n"
    ) + ALLOWED
    found = _find(tmp_path, text, Names(**{"a.svc": ["10.0.0.1"]}))
    assert [each.node for each in found.addresses] == ["ours", "10.0.0.1:1", "b:2"]


@pytest.mark.parametrize("text", ["[]", '[{"targets": []}]', '[{"targets": []}, {"targets": []}]'])
def test_a_source_that_gives_no_node_is_a_node_that_was_not_reached(
    tmp_path: Path, text: str
) -> None:
    (tmp_path / "a.json").write_text(text, "utf-8")
    found = _find(tmp_path, FILES)
    assert (_urls(found), _why(found)) == ([], [("file_sd ./*.json", "it gives no node")])


def test_a_file_without_nodes_beside_one_with_some_is_nothing_to_say(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("[]", "utf-8")
    _write(tmp_path, "b.json", "b:1")
    found = _find(tmp_path, FILES)
    assert (_urls(found), found.unread) == (["http://b:1"], ())


def test_nodes_that_a_file_gives_no_more_are_gone_and_the_source_says_so(tmp_path: Path) -> None:
    _write(tmp_path, "a.json", "a:1")
    finder = _finder(tmp_path, FILES)
    asyncio.run(finder.find())
    (tmp_path / "a.json").write_text("[]", "utf-8")
    found = asyncio.run(finder.find())
    assert (_urls(found), _why(found)) == ([], [("file_sd ./*.json", "it gives no node")])


@pytest.mark.parametrize(
    "second",
    [{"role": "decode"}, {"role": "prefill", "engine": "vllm"}, {"__scheme__": "https"}],
    ids=["role", "engine", "scheme"],
)
def test_one_address_that_is_said_to_be_two_things_is_said(
    tmp_path: Path, second: dict[str, str]
) -> None:
    _write(tmp_path, "a.json", "a:1", "b:1", role="prefill", engine="sglang")
    _write(tmp_path, "b.json", "a:1", **second)
    found = _find(tmp_path, FILES)
    assert [(each.url, each.role, each.engine) for each in found.addresses] == [
        ("http://a:1", Role.PREFILL, "sglang"),
        ("http://b:1", Role.PREFILL, "sglang"),
    ]
    why = "1 found twice, as different things; how each was found first holds"
    assert _why(found) == [("file_sd ./*.json", why)]


def test_an_address_that_is_found_again_adds_what_was_left_out(tmp_path: Path) -> None:
    _write(tmp_path, "a.json", "10.0.0.1:1", role="decode")
    sources = "{dns: 'a.svc:1'}, {file_sd: './a.json', engine: vllm}"
    text = f"    node_sources: [{sources}]\n" + ALLOWED
    found = _find(tmp_path, text, Names(**{"a.svc": ["10.0.0.1"]}))
    [address] = found.addresses
    assert (address.role, address.engine, found.unread) == (Role.DECODE, "vllm", ())


def test_one_host_may_be_listed_with_several_paths(tmp_path: Path) -> None:
    text = "    nodes: [{name: a, url: 'http://h/a'}, {name: b, url: 'http://h/b'}]\n"
    assert len(_find(tmp_path, text).addresses) == 2


def test_more_nodes_than_are_read_is_said(tmp_path: Path) -> None:
    for part in range(3):
        _write(tmp_path, f"{part}.json", *(f"n{part}-{i}:1" for i in range(1_000)))
    found = _find(tmp_path, FILES)
    assert len(found.addresses) == MAX_NODES
    [(_, why)] = _why(found)
    assert why == "only the first 2000 of 3000 nodes are read"


def test_what_a_source_accepts_holds_for_each_node_found_there(tmp_path: Path) -> None:
    accepted = "accepted: [{rule: some-rule, owner: a, reason: b, expires: 2027-01-31}]"
    text = f"    node_sources: [{{dns: 'a.svc:1', {accepted}}}]\n" + ALLOWED
    found = _find(tmp_path, text, Names(**{"a.svc": ["10.0.0.1", "10.0.0.2"]}))
    assert set(found.accepted) == {("glm", "10.0.0.1:1"), ("glm", "10.0.0.2:1")}
    assert {each.rule for rules in found.accepted.values() for each in rules} == {"some-rule"}
