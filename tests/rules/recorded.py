"""What is recorded of which series: values worked out by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tests.rules.scenarios import AT, Series

_OF = ',model="m",probe="canary",shape="canary",stratum="s"'
_GLM = 'env="prod", target="glm"'


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """Series, and what queries give at a moment: each sample with its labels and value."""

    name: str
    series: Series
    at: str
    values: Mapping[str, Sequence[tuple[str, float]]]
    step: str = "1m"


def _exchanges(**outcomes: str) -> dict[str, str]:
    return {
        f'davylamp_exchanges_total{AT}{_OF},outcome="{outcome}",class="none"}}': values
        for outcome, values in outcomes.items()
    }


def _histogram(name: str, bound: str, every: str, quick: str) -> dict[str, str]:
    of = ',probe="canary",shape="canary"'
    return {f"{name}_count{AT}{of}}}": every, f'{name}_bucket{AT}{of},le="{bound}"}}': quick}


def _found(record: str, slo: str, value: float, more: str = "") -> tuple[str, float]:
    """Return a sample of an objective as promtool writes it, labels in order."""
    inside = f'env="prod", {more}slo="{slo}", target="glm"'
    return f"{record}{{{inside}}}", value


def _values(
    slo: str, found: Mapping[str, float | None], more: str = ""
) -> dict[str, list[tuple[str, float]]]:
    """Return queries of one objective by record; ``None`` where there must be nothing."""
    return {
        f'{record}{{slo="{slo}"}}': [] if value is None else [_found(record, slo, value, more)]
        for record, value in found.items()
    }


def _objective(slo: str, ratio: float) -> dict[str, list[tuple[str, float]]]:
    record = "davylamp:slo_objective:ratio"
    return {f'{record}{{slo="{slo}"}}': [(f'{record}{{slo="{slo}"}}', ratio)]}


_LATENCY, _FIRST = ("davylamp_probe_duration_seconds", "davylamp_probe_time_to_first_token_seconds")
_RAN = {f'davylamp_probe_last_run_timestamp_seconds{AT},probe="canary",stratum="s"}}': "60x2000"}
_ERROR, _LEFT = "davylamp:slo_error:ratio", "davylamp:slo_error_budget_remaining:ratio"


def _stands(bad: float, valid: float, asked: float, room: float) -> dict[str, float | None]:
    """Return how an objective stands after five hours of so many events each."""
    return {
        "davylamp:slo_bad:increase1h": bad,
        "davylamp:slo_valid:increase1h": valid,
        "davylamp:slo_asked:increase1h": asked,
        "davylamp:slo_error:ratio1h": bad / valid,
        "davylamp:slo_bad:count": 5 * bad,
        "davylamp:slo_valid:count": 5 * valid,
        "davylamp:slo_asked:count": 5 * asked,
        "davylamp:slo_valid_share:ratio": valid / asked,
        "davylamp:slo_known": 1,
        _ERROR: bad / valid,
        _LEFT: 1 - bad / valid / room,
    }


# A minute: 9 good, 1 bad, 2 errors. After five hours there are 3,000 valid ones, enough for 99.9 %.
_MINUTES = {
    **_exchanges(good="0+9x400", bad="0+1x400", error="0+2x400", invalid="0x400"),
    **_histogram(_LATENCY, "60.0", "0+10x400", "0+9x400"),
    **_histogram(_FIRST, "30.0", "0+10x400", "0+9x400"),
    **_RAN,
}
_GREY = {"davylamp:slo_known": 0, _ERROR: None, _LEFT: None}


def _burned(bad: float, valid: float) -> dict[str, float | None]:
    """Return what the windows of burn rates hold at so many an hour."""
    # Put together of hours, a window of Prometheus 2 has both its ends, if it is looked at on one.
    hours = {"2h": 2, "6h": 6, "1d": 24 + 1, "3d": 72 + 1}
    return {
        **{f"davylamp:slo_bad:increase{window}": bad * many for window, many in hours.items()},
        **{f"davylamp:slo_valid:increase{window}": valid * many for window, many in hours.items()},
        **{f"davylamp:slo_error:ratio{window}": bad / valid for window in hours},
    }


SLOS = (
    Recorded(
        name="five hours are enough to know how each objective stands",
        series=_MINUTES,
        at="5h",
        values={
            **_values("semantic", _stands(60, 600, 720, 0.001)),
            **_values("semantic-by-probe", _stands(60, 600, 720, 0.001), more='probe="canary", '),
            **_values("availability", _stands(120, 720, 720, 0.01)),
            **_values("latency", _stands(60, 600, 600, 0.05)),
            **_values("first-token", _stands(60, 600, 600, 0.05)),
            **_objective("semantic", 0.999),
            **_objective("semantic-by-probe", 0.999),
            **_objective("availability", 0.99),
            **_objective("latency", 0.95),
            **_objective("first-token", 0.95),
            **_objective("nodes", 0.999),
        },
    ),
    Recorded(
        name="with too few events, or none, an objective is grey and never green",
        series=_MINUTES,
        at="4h",
        values={
            **_values("semantic", {**_GREY, "davylamp:slo_valid:count": 2400}),
            # No node of it is known, so nothing is expected of any.
            'davylamp:slo_known{slo="nodes"}': [],
        },
    ),
    Recorded(
        name="of nodes that tell nothing the objective is grey and never green",
        series={
            f'davylamp_node_conformity{AT},node="a",state="unknown"}}': "1x1600",
            f'davylamp_node_up{AT},node="a"}}': "0x1600",
        },
        at="25h",
        values=_values("nodes", {**_GREY, "davylamp:slo_valid:count": None}),
    ),
    Recorded(
        name="where most could not be judged an objective is grey",
        series={**_exchanges(good="0+9x400", bad="0x400", error="0+11x400"), **_RAN},
        at="6h",
        values={
            **_values(
                "semantic",
                {
                    **_GREY,
                    "davylamp:slo_valid:count": 3240,
                    "davylamp:slo_valid_share:ratio": 0.45,
                },
            ),
            **_values("availability", {"davylamp:slo_known": 1, _ERROR: 0.55}),
        },
    ),
    Recorded(
        name="three days of the same fill every window",
        series={
            **_exchanges(good="0+10x900", error="0+2x900"),
            **_histogram(_LATENCY, "60.0", "0+12x900", "0+9x900"),
            **_histogram(_FIRST, "30.0", "0+12x900", "0+9x900"),
        },
        at="74h",
        step="5m",
        values={
            **_values("availability", _burned(24, 144)),
            **_values("latency", _burned(36, 144)),
            **_values("first-token", _burned(36, 144)),
        },
    ),
    Recorded(
        # 61 readings an hour of each of three nodes, one unsafe; of a third nothing can be told.
        name="nodes count as often as they are read",
        series={
            f'davylamp_node_conforms{AT},node="a"}}': "1x1600",
            f'davylamp_node_conforms{AT},node="b"}}': "0x1600",
            f'davylamp_node_conformity{AT},node="a",state="unknown"}}': "0x1600",
            f'davylamp_node_conformity{AT},node="b",state="unknown"}}': "0x1600",
            f'davylamp_node_conformity{AT},node="c",state="unknown"}}': "1x1600",
            f'davylamp_node_up{AT},node="a"}}': "1x1600",
        },
        at="25h",
        values=_values(
            "nodes",
            {
                "davylamp:slo_bad:increase1h": 61,
                "davylamp:slo_valid:increase1h": 122,
                "davylamp:slo_asked:increase1h": 183,
                "davylamp:slo_error:ratio1h": 0.5,
                "davylamp:slo_bad:count": 1526,
                "davylamp:slo_valid:count": 3052,
                "davylamp:slo_asked:count": 4578,
                "davylamp:slo_valid_share:ratio": 2 / 3,
                "davylamp:slo_known": 1,
                _ERROR: 0.5,
                _LEFT: 1 - 0.5 / 0.001,
            },
        ),
    ),
    Recorded(
        # Since the daemon of `mid` restarted nothing was judged there.
        name="a size is proven once an answer of it could be judged, in any stratum",
        series={
            f'davylamp_not_probed{AT},probe="boundary",stratum="over-4096/c1",reason="budget"}}': (
                "1x2500"
            ),
            f'davylamp_not_probed{AT},probe="burst",stratum="short/c32",reason="frozen"}}': (
                "1x2500"
            ),
            **{
                f'davylamp_probe_last_success_timestamp_seconds{AT},probe="canary",'
                f'stratum="{stratum}"}}': values
                for stratum, values in {
                    "short/c1": "700000x2500",
                    "mid/c1": "700000x2300 0x200",
                    "long/c1": "0x2500",
                }.items()
            },
        },
        at="200h",
        step="5m",
        values={
            "davylamp:size_proven": [
                (f'davylamp:size_proven{{env="prod", size="{size}", target="glm"}}', proven)
                for size, proven in (("long", 0), ("mid", 1), ("over-4096", 0), ("short", 1))
            ],
            "davylamp:coverage:ratio": [(f"davylamp:coverage:ratio{{{_GLM}}}", 0.5)],
            "davylamp:coverage:count": [(f"davylamp:coverage:count{{{_GLM}}}", 4)],
            "davylamp:coverage_all:ratio": [('davylamp:coverage_all:ratio{env="prod"}', 0.5)],
            **_values("coverage", {"davylamp:slo_known": 1}),
        },
    ),
)

_RATE = "davylamp:production_requests:rate5m"
_TAKEN = "davylamp:production_duration_seconds:quantile5m"
_BEGUN = "davylamp:production_time_to_first_token_seconds:quantile5m"


def _production(
    source: str, requests: Mapping[str, tuple[str, float]], *, model: str, histograms: Series
) -> Recorded:
    """Return a source: requests by series, each with its code and rate; histograms by record.

    All answers came within a second, so that the median is half of one.
    """
    named = f', model="{model}"' if model else ""
    rates = [
        (f'{_RATE}{{code="{code}"{named}, source="{source}"}}', rate)
        for code, rate in requests.values()
    ]
    quantiles = {
        f'{record}{{source="{source}",quantile="{quantile}"}}': [
            (
                f'{record}{{model="glm-5.3", quantile="{quantile}", source="{source}"}}',
                float(quantile),
            )
        ]
        for record in histograms
        for quantile in ("0.5", "0.95", "0.99")
    }
    return Recorded(
        name=f"what {source} exports is recorded under our names",
        series={
            **{name: f"0+{rate * 60:g}x30" for name, (_, rate) in requests.items()},
            **{bucket: "0+60x30" for buckets in histograms.values() for bucket in buckets.split()},
        },
        at="20m",
        values={f'{_RATE}{{source="{source}"}}': rates, **quantiles},
    )


def _buckets(metric: str, labels: str, second: str) -> str:
    return " ".join(f'{metric}_bucket{{{labels},le="{le}"}}' for le in (second, "+Inf"))


_MODEL = 'model_name="glm-5.3"'
PRODUCTION = (
    _production(
        "vllm",
        {
            'http_requests_total{handler="/v1/chat/completions",status="2xx"}': ("2xx", 4),
            'http_requests_total{handler="/v1/chat/completions",status="5xx"}': ("5xx", 1),
        },
        model="",
        histograms={
            _TAKEN: _buckets("vllm:e2e_request_latency_seconds", _MODEL, "1.0"),
            _BEGUN: _buckets("vllm:time_to_first_token_seconds", _MODEL, "1.0"),
        },
    ),
    _production(
        "sglang",
        {
            'sglang:http_responses_total{endpoint="/v1/chat/completions",status_code="200"}': (
                "200",
                2,
            )
        },
        model="",
        histograms={
            _TAKEN: _buckets("sglang:e2e_request_latency_seconds", _MODEL, "1.0"),
            _BEGUN: _buckets("sglang:time_to_first_token_seconds", _MODEL, "1.0"),
        },
    ),
    _production(
        "litellm",
        {
            'litellm_proxy_total_requests_metric_total{requested_model="glm-5.3",team="a",'
            'status_code="200"}': ("200", 3),
            'litellm_proxy_total_requests_metric_total{requested_model="glm-5.3",team="a",'
            'status_code="500"}': ("500", 1),
        },
        model="glm-5.3",
        histograms={
            _TAKEN: _buckets(
                "litellm_request_total_latency_metric", 'requested_model="glm-5.3"', "1.0"
            ),
            _BEGUN: _buckets(
                "litellm_llm_api_time_to_first_token_metric", 'model="glm-5.3"', "1.0"
            ),
        },
    ),
    _production(
        "envoy",
        {
            'envoy_cluster_upstream_rq{envoy_cluster_name="glm-5.3",envoy_response_code="200"}': (
                "200",
                5,
            )
        },
        model="glm-5.3",
        histograms={
            _TAKEN: _buckets(
                "envoy_cluster_upstream_rq_time", 'envoy_cluster_name="glm-5.3"', "1000"
            )
        },
    ),
)
