"""The embedded store over ClickHouse's own HTTP interface, for readers."""
