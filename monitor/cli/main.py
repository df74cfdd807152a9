"""Entry point: a table of verbs. ``davylamp --help`` imports none of them, so it is quick."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import typer

from monitor.cli.lazy import VerbTable, lazy_group
from monitor.errors import DavylampError, UnsureError
from monitor.leaving import leave

GOOD_EXIT, USAGE_EXIT, UNSURE_EXIT, ABORTED_EXIT = 0, 2, 3, 130

VERBS: VerbTable = {
    "init": ("monitor.cli.init_verb", "Write a commented davylamp.yaml, or one from a URL."),
    "doctor": (
        "monitor.cli.doctor_verb",
        "Check everything a pass needs; each line says what to do.",
    ),
    "config": ("monitor.cli.config_verb", "Check or show the configuration in force."),
    "check": ("monitor.cli.check_verb", "One pass now: ask, judge, say what was found."),
    "run": ("monitor.cli.run_verb", "The daemon: schedules passes, serves /metrics."),
    "exporter": ("monitor.cli.exporter_verb", "GPUs of this machine as metrics, on each node."),
    "probe": ("monitor.cli.probe_verb", "Ask a target at once because it was deployed."),
    "plan": ("monitor.cli.plan_verb", "What a day asks and costs, before anything is sent."),
    "calibrate": (
        "monitor.cli.calibrate_verb",
        "Record what a healthy target does, to hold it to that.",
    ),
    "context": (
        "monitor.cli.context_verb",
        "Up to which size a target reads its prompts whole.",
    ),
    "nodes": (
        "monitor.cli.nodes_verb",
        "Every serving node, held to what is known of its version and settings.",
    ),
    "explain": ("monitor.cli.explain_verb", "Everything known of one trial, redacted."),
    "findings": ("monitor.cli.findings_verb", "List, decide about, verify and localise findings."),
    "pages": ("monitor.cli.pages_verb", "Whether pages arrive, before one has to."),
    "evidence": ("monitor.cli.evidence_verb", "What answers add up to: streams and their alarms."),
    "rules": ("monitor.cli.rules_verb", "Prometheus rules: build them, check them."),
    "dashboards": (
        "monitor.cli.dashboards_verb",
        "Grafana dashboards: build, check, push them.",
    ),
    "report": ("monitor.cli.report_verb", "The weekly integrity report: build one, verify one."),
    "scan": ("monitor.cli.scan_verb", "Judge answers that somebody reports."),
    "rescore": (
        "monitor.cli.rescore_verb",
        "Judge kept answers again with the checks of today.",
    ),
    "export": ("monitor.cli.export_verb", "Stream a table into a file, however large it is."),
    "db": ("monitor.cli.db_verb", "The store: migrate, serve, forget, back up, restore, audit."),
    "lab": ("monitor.cli.lab_verb", "A simulated serving cluster with real faults."),
    "demo": ("monitor.cli.demo_verb", "The incident and what Davylamp says of it, in a minute."),
    "drill": (
        "monitor.cli.drill_verb",
        "Every fault of the lab, many times: what is caught, and how soon.",
    ),
    "version": ("monitor.cli.version_verb", "The version of command, checks and JSON contract."),
}


app = typer.Typer(
    cls=lazy_group(VERBS),
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Semantic monitoring of language-model serving: asks questions whose right answer it "
    "knows, and says what the answers say when every status code is 200.",
    epilog="Exit codes: 0 good, 1 something bad, 2 usage or configuration, "
    "3 nothing bad but something could not be told.",
)


@app.callback()
def davylamp() -> None:
    """Do nothing by itself; the verbs do."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code. Errors go to stderr, each with its remedy."""
    command = typer.main.get_command(app)
    args = list(arguments) if arguments is not None else None
    try:
        result = command.main(args=args, prog_name="davylamp", standalone_mode=False)
    except typer.Abort:
        sys.stderr.write("stopped\n")
        return ABORTED_EXIT
    except typer.TyperException as error:
        show = getattr(error, "show", None)
        show() if show else sys.stderr.write(f"{error}\n")
        return USAGE_EXIT
    except DavylampError as error:
        sys.stderr.write(f"{error}\n")
        return UNSURE_EXIT if isinstance(error, UnsureError) else USAGE_EXIT
    return result if isinstance(result, int) else GOOD_EXIT


def run() -> None:
    """Exit the process with ``main``'s code."""
    leave(main())


if __name__ == "__main__":
    run()
