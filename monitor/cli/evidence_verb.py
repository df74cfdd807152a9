"""``davylamp evidence``: what answers add up to, and proof of where a text came from."""

from __future__ import annotations

import typer

from monitor.cli.lazy import VerbTable, lazy_group

VERBS: VerbTable = {
    "show": ("monitor.cli.evidence_show", "How each stream of a target stands: K of N, alarms."),
    "resolve": ("monitor.cli.evidence_resolve", "End an alarm by hand; its evidence begins anew."),
    "export": ("monitor.cli.evidence_export", "A signed certificate of a leak, for others."),
    "verify": ("monitor.cli.evidence_verify", "Whether a certificate holds; needs no store."),
    "public-key": (
        "monitor.cli.evidence_public_key",
        "The key that verifies certificates of this installation.",
    ),
}

app = typer.Typer(
    cls=lazy_group(VERBS),
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="What answers add up to, and proof of where a text came from.",
)


@app.callback()
def evidence() -> None:
    """Do nothing by itself; the verbs do."""
