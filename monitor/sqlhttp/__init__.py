"""The embedded store over ClickHouse's own HTTP interface, for readers."""

from monitor.sqlhttp.access import TOKEN_FILE, USER, reader_token
from monitor.sqlhttp.app import OnResult
from monitor.sqlhttp.server import SqlServer, sql_port, sql_server

__all__ = [
    "TOKEN_FILE",
    "USER",
    "OnResult",
    "SqlServer",
    "reader_token",
    "sql_port",
    "sql_server",
]
