"""Checks: one module a signal. Pure functions; none of them knows a probe or a lab."""

from monitor.checks import (
    boundary,
    cached,
    charset,
    dup,
    empty,
    entity,
    fact,
    finger,
    finish,
    foreign,
    identity,
    judge,
    language,
    needle,
    nonce,
    ontopic,
    param,
    protocol,
    repeat,
    replay,
    role,
    special,
    struct,
    surplus,
    term,
    timing,
    topic,
    usage_in,
    usage_out,
)
from monitor.checks.base import Check, judge_trial

CHECKS: tuple[Check, ...] = tuple(
    module.CHECK
    for module in (
        protocol,
        foreign,
        nonce,
        ontopic,
        fact,
        needle,
        boundary,
        usage_in,
        usage_out,
        param,
        finish,
        empty,
        special,
        charset,
        identity,
        struct,
        role,
        repeat,
        surplus,
        replay,
        dup,
        cached,
        timing,
        finger,
        term,
        entity,
        topic,
        language,
        judge,
    )
)
# Raised whenever a check's meaning changes, so that stored verdicts say what judged them.
CHECKS_VERSION = "7"

__all__ = ["CHECKS", "CHECKS_VERSION", "Check", "judge_trial"]
