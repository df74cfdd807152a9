"""What the configuration says about pages: who is told directly, of what, and when not."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, model_validator

from monitor.config.problems import wrong
from monitor.config.secrets import SecretRef
from monitor.config.section import Section
from monitor.config.values import (
    EnvName,
    FileName,
    HeaderName,
    HttpUrl,
    Instant,
    Label,
    Text,
    in_clear,
)

PAGERDUTY = "pagerduty"
PAGERDUTY_URL = "https://events.pagerduty.com"
DRAIN_NAMES = ("environment", "finding", "model", "target")
RouteName = Literal["direct", "alertmanager"]

_NAME = re.compile(r"\{([^{}]*)\}")


def _event_url(value: str) -> str:
    """Refuse to send a routing key in clear to another machine, and a path that is added by us."""
    if in_clear(value):
        raise wrong("would send the routing key in clear", "write an https:// URL")
    if urlsplit(value).path:
        raise wrong("has a path, but /v2/enqueue is added to it", f"write {PAGERDUTY_URL}")
    return value


def _drain_command(value: str) -> str:
    for name in _NAME.findall(value):
        if name not in DRAIN_NAMES:
            known = ", ".join(f"{{{each}}}" for each in DRAIN_NAMES)
            raise wrong("names something in braces that is not known here", f"use {known}")
    return value


class PagerDuty(Section):
    """A service of PagerDuty with an Events API v2 integration."""

    routing_key_env: EnvName | None = Field(
        default=None, description="Environment variable that holds its integration key."
    )
    routing_key_file: FileName | None = Field(
        default=None, description="File that holds it and nothing else."
    )
    url: Annotated[HttpUrl, AfterValidator(_event_url)] = Field(
        default=PAGERDUTY_URL,
        description="Where events go; `https://events.eu.pagerduty.com` in the EU.",
    )

    @property
    def routing_key(self) -> SecretRef:
        """The name of the integration key."""
        found = self.secret("routing_key")
        if found is None:
            msg = "a loaded section names its key"
            raise LookupError(msg)
        return found

    @model_validator(mode="after")
    def _check(self) -> Self:
        self._only_one_of("routing_key")
        if self.routing_key_env is None and self.routing_key_file is None:
            raise wrong("names no integration key", "add routing_key_env or routing_key_file")
        return self


class Webhook(Section):
    """Anything that takes a page as JSON over HTTP; see docs/pages.md."""

    name: Label = Field(description="Unique; a metric label.", examples=["incidents"])
    url: HttpUrl = Field(
        description="Where pages are posted to.", examples=["https://hooks.example.com/davylamp"]
    )
    token_env: EnvName | None = Field(
        default=None, description="Environment variable that holds a bearer token."
    )
    token_file: FileName | None = Field(default=None, description="File that holds it.")
    secret_env: EnvName | None = Field(
        default=None,
        description="Environment variable that holds the secret pages are signed with.",
    )
    secret_file: FileName | None = Field(default=None, description="File that holds it.")
    signature_header: HeaderName = Field(
        default="X-Davylamp-Signature", description="Where the signature stands."
    )

    @property
    def token(self) -> SecretRef | None:
        """The name of its bearer token, or ``None``."""
        return self.secret("token")

    @property
    def signing_secret(self) -> SecretRef | None:
        """The name of the secret its pages are signed with, or ``None``."""
        return self.secret("secret")

    @model_validator(mode="after")
    def _check(self) -> Self:
        self._only_one_of("token")
        self._only_one_of("secret")
        if in_clear(self.url):
            remedy = "let url be an https:// URL"
            if self.token_env or self.token_file:
                raise wrong("would send its token in clear", remedy)
            if self.secret_env or self.secret_file:
                raise wrong("would send signed pages in clear", remedy)
        if self.name == PAGERDUTY:
            raise wrong("this name is taken", "choose another name than pagerduty")
        return self


class Routes(Section):
    """By which one route findings of a class page. Without a receiver all go by Alertmanager."""

    leak: RouteName = Field(default="direct", alias="LEAK", description="Another tenant's text.")
    crossed: RouteName = Field(
        default="direct", alias="CROSSED", description="Another request's text."
    )
    wrong_input: RouteName = Field(
        default="alertmanager", alias="WRONG_INPUT", description="Something else was answered."
    )
    corrupt: RouteName = Field(
        default="alertmanager", alias="CORRUPT", description="Damaged answers."
    )
    contract: RouteName = Field(
        default="alertmanager", alias="CONTRACT", description="A broken protocol or count."
    )
    unsafe_node: RouteName = Field(
        default="alertmanager", alias="UNSAFE_NODE", description="A node known to be unsafe."
    )
    drift: RouteName = Field(default="alertmanager", alias="DRIFT", description="Outputs moved.")

    def by_class(self) -> dict[str, str]:
        """Return the route of each class by its label."""
        fields = type(self).model_fields
        return {str(field.alias): str(getattr(self, name)) for name, field in fields.items()}


class Links(Section):
    """Base URLs of what a page points to; what is left out is not pointed to."""

    findings: HttpUrl | None = Field(
        default=None, description="A finding is at this URL, `/` and its id."
    )
    dashboard: HttpUrl | None = Field(
        default=None, description="A dashboard with the variables `env` and `target`."
    )
    runbooks: HttpUrl | None = Field(
        default=None,
        description="A runbook is at this URL, `/` and the class in lower case.",
    )


class Drain(Section):
    """How to take a target out of rotation, for whoever is paged. Davylamp never runs it."""

    command: Annotated[Text, AfterValidator(_drain_command)] = Field(
        description="May name {target}, {model}, {environment} and {finding}.",
        examples=["gatewayctl drain {target}"],
    )
    targets: tuple[Label, ...] = Field(
        default=(), description="Whose command this is; left out, of all that have none."
    )


class Window(Section):
    """A time of maintenance: pages wait for its end, but LEAK and CROSSED."""

    begins: Instant = Field(
        alias="from", description="From when, with a zone.", examples=["2027-01-31T22:00Z"]
    )
    until: Instant = Field(description="Until when, with a zone.", examples=["2027-02-01T02:00Z"])
    reason: Text = Field(description="Why.", examples=["engine upgrade"])
    targets: tuple[Label, ...] = Field(default=(), description="For which; left out, for all.")

    def holds(self, target: str, now: datetime) -> bool:
        """Return true if pages of a target wait now."""
        return self.begins <= now < self.until and (not self.targets or target in self.targets)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.until <= self.begins:
            raise wrong("ends before it begins", "let until be later than from")
        return self


class Pages(Section):
    """Who is told of findings without Alertmanager. Without a receiver nobody is."""

    pagerduty: PagerDuty | None = Field(default=None, description="An Events API v2 service.")
    webhooks: tuple[Webhook, ...] = Field(default=(), description="Further receivers.")
    routes: Routes = Field(default_factory=Routes, description="One route for each class.")
    links: Links = Field(default_factory=Links, description="What a page points to.")
    drain: tuple[Drain, ...] = Field(
        default=(), description="Commands that take a target out of rotation."
    )
    windows: tuple[Window, ...] = Field(default=(), description="Times of maintenance.")

    @property
    def receivers(self) -> tuple[str, ...]:
        """The names of those who are told directly."""
        first = () if self.pagerduty is None else (PAGERDUTY,)
        return (*first, *(webhook.name for webhook in self.webhooks))

    def drain_command(self, target: str) -> str | None:
        """Return the command for a target: its own, else that for all."""
        own = [each.command for each in self.drain if target in each.targets]
        general = [each.command for each in self.drain if not each.targets]
        return next(iter((*own, *general)), None)

    @model_validator(mode="after")
    def _check(self) -> Self:
        defaults, chosen = Routes().by_class(), self.routes.by_class()
        moved = any(chosen[each] == "direct" != defaults[each] for each in chosen)
        if moved and not self.receivers:
            raise wrong(
                "has a direct route but nobody to tell", "add pagerduty or webhooks, or remove it"
            )
        return self
