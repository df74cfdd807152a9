"""A known and wanted deviation: accepted by somebody, for a reason, until a day."""

from __future__ import annotations

from datetime import date
from typing import Annotated

from pydantic import Field

from monitor.config.section import Section
from monitor.config.values import IsoDate, Text

RuleName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,99}$")]


class Acceptance(Section):
    """Who accepts it, why, and until when."""

    owner: Text = Field(description="Who answers for it.", examples=["serving-team"])
    reason: Text = Field(description="Why it is wanted.", examples=["documented by the vendor"])
    expires: IsoDate = Field(description="After this day it alerts again.", examples=["2027-01-31"])

    def expired(self, today: date) -> bool:
        """Return true if its day is past."""
        return self.expires < today


class Truncation(Acceptance):
    """A known and wanted deviation: who accepts it, why, and until when."""


class AcceptedRule(Acceptance):
    """A rule that a node may break: shown, and without consequence until its day is past."""

    rule: RuleName = Field(
        description="The rule's name; see docs/node-rules.md.",
        examples=["sglang-pd-over-length"],
    )
