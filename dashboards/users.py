"""What servers and gateways of users count: the left side of the overview."""

from __future__ import annotations

from dashboards.frame import BY_CODE
from dashboards.panels import Look, Said, prometheus, time_series

_NO_MAPPING = (
    "No production metrics: load alerts/rules/production.rules.yml, and map "
    "your gateway (docs/slos.md). What probes saw of HTTP is on Target "
    "detail."
)
USERS = (
    time_series(
        Said(
            "Users: status codes",
            "reqps",
            (
                "Requests of all your users by HTTP status code, as your own servers and gateways "
                "count them, whatever environment and target are chosen above."
            ),
            _NO_MAPPING,
        ),
        [
            prometheus(
                "sum by (source, code) (davylamp:production_requests:rate5m)", "{{source}} {{code}}"
            )
        ],
        Look(
            stacked=True,
            low=0,
            overrides=BY_CODE,
        ),
    ),
    time_series(
        Said(
            "Users: latency",
            "s",
            (
                "How long requests of users took, and their first tokens: half of them, "
                "95 and 99 in 100."
            ),
            _NO_MAPPING,
        ),
        [
            prometheus(
                ("max by (source, quantile) (davylamp:production_duration_seconds:quantile5m)"),
                "{{source}} p{{quantile}}",
            ),
            prometheus(
                (
                    "max by (source, quantile) "
                    "(davylamp:production_time_to_first_token_seconds:quantile5m)"
                ),
                "{{source}} first token p{{quantile}}",
            ),
        ],
        Look(low=0),
    ),
    time_series(
        Said("Users: throughput", "reqps", "Requests of users a second, by model.", _NO_MAPPING),
        [
            prometheus(
                "sum by (source, model) (davylamp:production_requests:rate5m)",
                "{{source}} {{model}}",
            )
        ],
        Look(low=0),
    ),
)
