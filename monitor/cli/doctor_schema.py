"""Is the store's schema whole: asked only where no daemon has it open, which compared it itself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from monitor.app import standing_of_store
from monitor.cli.doctor_line import Line, Surroundings, fail, ok, unknown, warn
from monitor.errors import DavylampError, StoreBusyError
from monitor.store.store import DATA_DIRECTORY
from monitor.store.structure import REMEDY


async def check_schema(around: Surroundings) -> AsyncIterator[Line]:
    """See that tables and views are what this version needs; nothing is changed or made."""
    path, what = around.config.storage_path, "schema"
    if not (path if around.config.storage.url else path / DATA_DIRECTORY).is_dir():
        return
    try:
        standing = await asyncio.to_thread(standing_of_store, around.config)
    except StoreBusyError:
        # Its owner compared all of it when it opened it, and its log says what it found.
        return
    except DavylampError as error:
        yield unknown(what, f"the store cannot be opened: {error}", "mend that, then ask again")
        return
    if standing.is_new:
        return
    if standing.differs:
        yield fail(what, "; ".join(str(each) for each in standing.differs), REMEDY)
    elif standing.migrations:
        said = f"migrations are missing ({len(standing.migrations)})"
        yield warn(what, said, "run davylamp db migrate; whatever opens the store does it too")
    else:
        yield ok(what, "every table and view is as this version needs it")
