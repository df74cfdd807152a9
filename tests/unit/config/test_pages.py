"""What the configuration says about pages, read back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from monitor.config.show import render_effective
from tests.unit.config.known import GOOD, load_text

PAGES = """\
pages:
  pagerduty: {routing_key_env: PAGERDUTY_KEY, url: "https://events.eu.pagerduty.com"}
  webhooks:
    - {name: incidents, url: "https://hooks.lan:8080/a", token_env: HOOK, secret_file: hook.key}
  routes: {CORRUPT: direct, CROSSED: alertmanager}
  links: {findings: "https://davylamp.example.com/findings"}
  drain:
    - {command: "gatewayctl drain {target}"}
    - {command: "gatewayctl stop {target} # {finding}", targets: [glm-prod]}
  windows:
    - {from: 2027-01-31T22:00+01:00, until: 2027-02-01T02:00Z, reason: upgrade}
"""


def test_without_the_section_nobody_is_told(tmp_path: Path) -> None:
    pages = load_text(tmp_path, GOOD).settings.pages
    assert pages.receivers == ()
    assert pages.drain_command("glm-prod") is None


def test_what_is_written_holds(tmp_path: Path) -> None:
    pages = load_text(tmp_path, GOOD + PAGES).settings.pages
    assert pages.receivers == ("pagerduty", "incidents")
    assert pages.pagerduty is not None
    assert str(pages.pagerduty.routing_key) == "$PAGERDUTY_KEY"
    [hook] = pages.webhooks
    assert (str(hook.token), str(hook.signing_secret)) == ("$HOOK", "hook.key")
    routes = pages.routes.by_class()
    assert (routes["LEAK"], routes["CROSSED"], routes["CORRUPT"]) == (
        *("direct", "alertmanager"),
        "direct",
    )
    assert pages.drain_command("glm-prod") == "gatewayctl stop {target} # {finding}"
    assert pages.drain_command("another") == "gatewayctl drain {target}"


def test_a_window_holds_from_its_begin_and_not_at_its_end(tmp_path: Path) -> None:
    [window] = load_text(tmp_path, GOOD + PAGES).settings.pages.windows
    begins, until = datetime(2027, 1, 31, 21, tzinfo=UTC), datetime(2027, 2, 1, 2, tzinfo=UTC)
    second = timedelta(seconds=1)
    held = [window.holds("glm-prod", at) for at in (begins - second, begins, until - second, until)]
    assert held == [False, True, True, False]
    only = window.model_copy(update={"targets": ("qwen",)})
    assert (only.holds("glm-prod", begins), only.holds("qwen", begins)) == (False, True)


def test_what_is_shown_loads_to_the_same(tmp_path: Path) -> None:
    config = load_text(tmp_path, GOOD + PAGES)
    again = load_text(tmp_path, render_effective(config))
    assert again.hash == config.hash
    assert load_text(tmp_path, GOOD).hash != config.hash


def test_a_key_may_go_in_clear_on_this_machine_only(tmp_path: Path) -> None:
    for host in ("127.0.0.1:9", "localhost:9", "[::1]:9"):
        text = GOOD + f'pages: {{pagerduty: {{routing_key_env: K, url: "http://{host}"}}}}\n'
        assert load_text(tmp_path, text).settings.pages.receivers == ("pagerduty",)


def test_a_token_may_go_in_clear_on_this_machine_and_none_to_any(tmp_path: Path) -> None:
    for keys in ('url: "http://127.0.0.1:9", token_env: HOOK', 'url: "http://hooks.internal"'):
        text = GOOD + f"pages: {{webhooks: [{{name: hook, {keys}}}]}}\n"
        assert load_text(tmp_path, text).settings.pages.receivers == ("hook",)
    for keys in ('endpoint: "http://[::1]:4318", token_env: T', 'endpoint: "http://otel:4318"'):
        assert load_text(tmp_path, GOOD + f"telemetry: {{otlp: {{{keys}}}}}\n").settings.telemetry
