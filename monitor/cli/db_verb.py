"""``davylamp db``: everything done to the store itself."""

from __future__ import annotations

import typer

from monitor.cli.lazy import VerbTable, lazy_group

VERBS: VerbTable = {
    "migrate": ("monitor.cli.db_migrate", "Bring the store to the schema of this version."),
    "serve": ("monitor.cli.db_serve", "Read-only SQL over HTTP while no daemon runs."),
    "audit": ("monitor.cli.db_audit", "Verify the audit chain and print its head."),
    "forget": ("monitor.cli.db_forget", "Erase what was kept of a tenant, a trial or a time."),
    "backup": ("monitor.cli.db_backup", "Write every table, with a manifest, into a folder."),
    "restore": ("monitor.cli.db_restore", "Fill an empty store from a backup."),
}

app = typer.Typer(
    cls=lazy_group(VERBS),
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Everything done to the store itself.",
)


@app.callback()
def db() -> None:
    """Do nothing by itself; the verbs do."""
