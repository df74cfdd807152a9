"""The daemon: schedules passes, serves metrics and health, and checks on demand."""
