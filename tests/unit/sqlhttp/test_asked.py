"""Forms and URLs: what is sent is taken apart in time that goes with its length."""

from __future__ import annotations

import asyncio
import contextlib
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.sqlhttp.asked import MOST_BODY_BYTES, MOST_FIELDS, form_fields, url_parameters
from monitor.sqlhttp.failures import RefusedError

KIND = "multipart/form-data; boundary=b"


def part(name: str, value: str = "x", more: str = "") -> bytes:
    head = f'--b\r\nContent-Disposition: form-data; name="{name}"\r\n{more}\r\n{value}\r\n'
    return head.encode("utf-8", "surrogateescape")


def form(*parts: bytes) -> bytes:
    return b"".join(parts) + b"--b--\r\n"


def code(body: bytes, kind: str = KIND) -> int:
    with pytest.raises(RefusedError) as caught:
        form_fields(kind, body)
    return caught.value.code


def test_fields_of_a_form() -> None:
    body = form(part("query", "SELECT '--b'"), part("param_a", "ü\r\n"), part("query", "SELECT 1"))
    assert form_fields(KIND, body) == {"query": "SELECT 1", "param_a": "ü\r\n"}
    assert form_fields('Multipart/Form-Data; charset=x; boundary="b"', form(part("a"))) == {
        "a": "x"
    }
    assert form_fields(KIND, form(part("a", "", "Content-Type: text/plain\r\n"))) == {"a": ""}
    assert form_fields(KIND, b"--b--") == {}
    assert form_fields(KIND, b"a preamble\r\n" + form(part("a"))) == {"a": "x"}


@given(
    fields=st.dictionaries(
        st.text("abcdefgh_", min_size=1, max_size=8), st.text(max_size=40), max_size=8
    )
)
def test_what_a_client_packs_is_what_we_unpack(fields: dict[str, str]) -> None:
    files = {name: (None, value.encode("utf-8", "replace")) for name, value in fields.items()}
    request = httpx.Request("POST", "http://x/", files=files or {"a": (None, b"")})
    found = form_fields(request.headers["content-type"], request.read())
    sent = {name: value.encode("utf-8", "replace").decode() for name, value in fields.items()}
    assert found == (sent or {"a": ""})


@given(body=st.lists(st.sampled_from((b"--b", b"\r\n", b"--", b'name="a"', b": ", b"x", b";"))))
def test_noise_is_a_form_or_refused(body: list[bytes]) -> None:
    with contextlib.suppress(RefusedError):
        form_fields(KIND, b"".join(body))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (form(*[part("a")] * MOST_FIELDS), 0),
        (form(*[part("a")] * (MOST_FIELDS + 1)), 229),
        (b"--b\r\n\r\n\r\n" * 400_000 + b"--b--\r\n", 229),
        (form(*[part("a")] * 60_000), 229),
        (b"--b\r\n" + b"X: y\r\n" * 500_000 + b"\r\n\r\nq\r\n--b--", 36),
        (form(part("a", "x", f"X: {'=?utf-8?q?a?= ' * 250_000}\r\n")), 36),
        (form(part("a" + '"; a*0*="b' * 100_000)), 36),
        (form(part("a", "x" * (MOST_BODY_BYTES - 200))), 0),
        (form(part("a", "\r\n" * (MOST_BODY_BYTES // 2 - 200))), 0),
        (part("a"), 36),
        (b"", 36),
        (form(b"--bXYZ\r\n\r\n\r\n"), 36),
        (form(b"--b\r\nX: y\r\n\r\nz\r\n"), 48),
        (form(part('a"; filename="t')), 48),
        (form(part("a", "eA==", "Content-Transfer-Encoding: base64\r\n")), 48),
    ],
    ids=lambda value: str(len(value) if isinstance(value, bytes) else value),
)
def test_forms_are_bounded(body: bytes, expected: int) -> None:
    """The mail parser of the standard library takes minutes for some of these."""
    if expected:
        assert code(body) == expected
    else:
        assert set(form_fields(KIND, body)) == {"a"}


def test_boundaries() -> None:
    for kind in ("multipart/form-data", "multipart/form-data; boundary=", f"{KIND}{'b' * 70}"):
        assert code(form(part("a")), kind) == 36
    assert code(form(part("a")), "multipart/form-data; boundary=" + '"' * 100_000) == 36


def test_parameters_of_the_url_are_bounded() -> None:
    def parameters(query: bytes) -> dict[str, str]:
        request: Any = SimpleNamespace(scope={"query_string": query})
        return url_parameters(request)

    assert parameters(b"a=1&a=2&b=%20") == {"a": "2", "b": " "}
    assert len(parameters(b"&".join(b"a%d=1" % n for n in range(MOST_FIELDS)))) == MOST_FIELDS
    with pytest.raises(RefusedError, match="256 fields"):
        parameters(b"a&" * 400_000)


def test_forms_are_taken_apart_beside_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that even the dearest form holds up nobody's answer."""
    from monitor.sqlhttp import asked

    loops: list[bool] = []

    def taken(kind: str, body: bytes) -> dict[str, str]:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            loops.append(False)
        else:
            loops.append(True)
        return form_fields(kind, body)

    async def stream() -> Any:
        yield form(part("query", "SELECT 1"))

    monkeypatch.setattr(asked, "form_fields", taken)
    request: Any = SimpleNamespace(headers={"content-type": KIND}, stream=stream)
    assert asyncio.run(asked.read_asked(request, {})).statement == b"SELECT 1"
    assert loops == [False]
