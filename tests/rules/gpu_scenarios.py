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
    Scenario(
        alert="DavylampGpuFailed",
        series={
            f'davylamp_gpu_state{_AT},state="failed"}}': "0x5 1x25 0x20",
            f'davylamp_gpu_state{_AT},state="ok"}}': "1x5 0x25 1x20",
            f'davylamp_gpu_state{_CALM},state="failed"}}': "0x5 1x5 0x40",
            f'davylamp_gpu_state{_CALM},state="ok"}}': "1x5 0x5 1x40",
            'davylamp_gpu_driver_state{env="prod",state="ok"}': "1x50",
            # Its driver fails as a whole.
            'davylamp_gpu_state{env="stage",gpu="1",state="failed"}': "1x50",
            'davylamp_gpu_driver_state{env="stage",state="ok"}': "0x50",
        },
        silent_at="14m",
        fires_at="25m",
        over_at="40m",
        labels={**_GPU, **WARNING, "state": "failed"},
    ),
)

_FIRING = 'ALERTS{alertname="%s", alertstate="firing", class="none", env="prod", %sseverity="%s"}'
_NOT_READ = 'ALERTS{alertname="DavylampGpusNotRead",alertstate="firing"}'
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
        name="a machine that never had a GPU is well without one",
        series={
            'davylamp_gpu_driver_state{env="prod",state="no_gpu"}': "1x100",
            'davylamp_gpu_driver_state{env="prod",state="no_library"}': "0x100",
            'davylamp_gpu_driver_state{env="prod",state="ok"}': "0x100",
            'davylamp_gpu_last_read_timestamp_seconds{env="prod"}': "0+60x100",
            # Of another machine.
            'davylamp_gpu_up{env="stage",gpu="0"}': "1x100",
        },
        at="90m",
        values={_NOT_READ: []},
    ),
    Recorded(
        name="a machine whose GPUs are gone since it started anew is not",
        series={
            'davylamp_gpu_driver_state{env="prod",state="no_gpu"}': "0x10 1x90",
            'davylamp_gpu_driver_state{env="prod",state="ok"}': "1x10 0x90",
            'davylamp_gpu_up{env="prod",gpu="0"}': "1x10 _x90",
            'davylamp_gpu_up{env="prod",gpu="1"}': "0x10 _x90",
            'davylamp_gpu_last_read_timestamp_seconds{env="prod"}': "0+60x100",
        },
        at="90m",
        values={_NOT_READ: [(_FIRING % ("DavylampGpusNotRead", "", "warning"), 1)]},
    ),
    Recorded(
        name="a machine without GPUs for longer than a week is one that has none",
        series={
            'davylamp_gpu_driver_state{env="prod",state="no_gpu"}': "0x2 1x200",
            'davylamp_gpu_up{env="prod",gpu="0"}': "1x2 _x200",
            'davylamp_gpu_last_read_timestamp_seconds{env="prod"}': "0+3600x200",
        },
        at="190h",
        step="1h",
        values={_NOT_READ: []},
    ),
    Recorded(
        name="a library that is not there where a GPU is does not end by itself",
        series={
            'davylamp_gpu_driver_state{env="prod",state="no_library"}': "1x100",
            'davylamp_gpu_driver_state{env="prod",state="no_gpu"}': "0x100",
            'davylamp_gpu_last_read_timestamp_seconds{env="prod"}': "0+60x100",
        },
        at="90m",
        values={_NOT_READ: [(_FIRING % ("DavylampGpusNotRead", "", "warning"), 1)]},
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
