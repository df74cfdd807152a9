"""Scenarios of the alerts on GPUs."""

from __future__ import annotations

from tests.rules.recorded import Recorded
from tests.rules.scenarios import CRITICAL, ENV, WARNING, Scenario

_AT = '{env="prod",gpu="1"'
_CALM = '{env="prod",gpu="2"'
_GPU = {**ENV, "gpu": "1"}

GPUS = (
    Scenario(
        alert="DavylampGpuLost",
        series={
            # Its exporter is away for a while, and nothing says that it is back.
            f'davylamp_gpu_state{_AT},state="lost"}}': "0x5 1x10 _x30 0x20",
            f'davylamp_gpu_state{_AT},state="ok"}}': "1x5 0x10 _x30 1x20",
            f'davylamp_gpu_state{_CALM},state="lost"}}': "0x70",
            f'davylamp_gpu_state{_CALM},state="failed"}}': "1x70",
        },
        silent_at="5m",
        fires_at="40m",
        over_at="50m",
        labels={**_GPU, **CRITICAL, "state": "lost"},
    ),
    Scenario(
        alert="DavylampGpuFatalXid",
        series={
            f'davylamp_gpu_xid_events_total{_AT},code="79"}}': "0x10 1x100",
            f'davylamp_gpu_xid_events_total{_AT},code="31"}}': "0x10 5x100",
            f'davylamp_gpu_xid_events_total{_CALM},code="79"}}': "3x110",
        },
        silent_at="10m",
        fires_at="15m",
        over_at="80m",
        labels={**_GPU, **CRITICAL, "code": "79"},
    ),
    Scenario(
        alert="DavylampGpuMemoryErrors",
        series={
            f'davylamp_gpu_ecc_errors_total{_AT},uuid="GPU-b",kind="uncorrected"}}': "0x10 2x100",
            f'davylamp_gpu_ecc_errors_total{_AT},uuid="GPU-b",kind="corrected"}}': "0+1x110",
            f'davylamp_gpu_remapped_rows{_CALM},kind="failure"}}': "0x110",
            f'davylamp_gpu_remapped_rows{_CALM},kind="uncorrectable"}}': "4x110",
        },
        silent_at="10m",
        fires_at="15m",
        over_at="80m",
        labels={**_GPU, **CRITICAL, "uuid": "GPU-b", "kind": "uncorrected"},
    ),
    Scenario(
        alert="DavylampGpusNotRead",
        series={
            'davylamp_gpu_driver_state{env="prod",state="ok"}': "1x5 0x40 1x40",
            'davylamp_gpu_driver_state{env="prod",state="no_driver"}': "0x5 1x40 0x40",
            'davylamp_gpu_driver_state{env="stage",state="ok"}': "1x85",
            'davylamp_gpu_driver_state{env="stage",state="no_driver"}': "0x85",
            'davylamp_gpu_last_read_timestamp_seconds{env="prod"}': "0+60x85",
            'davylamp_gpu_last_read_timestamp_seconds{env="stage"}': "0+60x85",
        },
        silent_at="10m",
        fires_at="30m",
        over_at="60m",
        labels={**ENV, **WARNING},
    ),
)

_FIRING = 'ALERTS{alertname="%s", alertstate="firing", class="none", env="prod", %sseverity="%s"}'
GPUS_BESIDE = (
    Recorded(
        name="another card that takes a label after a restart is no rise of its errors",
        series={
            'davylamp_gpu_ecc_errors_total{env="prod",gpu="0",uuid="GPU-a",kind="uncorrected"}': (
                "0x30 _x60"
            ),
            'davylamp_gpu_ecc_errors_total{env="prod",gpu="1",uuid="GPU-b",kind="uncorrected"}': (
                "3x30 _x60"
            ),
            'davylamp_gpu_ecc_errors_total{env="prod",gpu="0",uuid="GPU-b",kind="uncorrected"}': (
                "_x31 3x59"
            ),
        },
        at="45m",
        values={'ALERTS{alertname="DavylampGpuMemoryErrors",alertstate="firing"}': []},
    ),
    Recorded(
        name="an exporter that falls silent is missed",
        series={
            'davylamp_gpu_driver_state{env="prod",state="ok"}': "1x10 _x100",
            'davylamp_gpu_last_read_timestamp_seconds{env="prod"}': "0+60x10 _x100",
        },
        at="60m",
        values={
            'ALERTS{alertname="DavylampGpusNotRead",alertstate="firing"}': [
                (_FIRING % ("DavylampGpusNotRead", "", "warning"), 1)
            ]
        },
    ),
    Recorded(
        name="a row that could not be replaced is told for as long as it holds",
        series={f'davylamp_gpu_remapped_rows{_AT},kind="failure"}}': "1x200"},
        at="180m",
        values={
            'ALERTS{alertname="DavylampGpuMemoryErrors",alertstate="firing"}': [
                (
                    _FIRING % ("DavylampGpuMemoryErrors", 'gpu="1", kind="failure", ', "critical"),
                    1,
                )
            ]
        },
    ),
)
