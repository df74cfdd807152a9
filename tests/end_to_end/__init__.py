"""A fault, the daemon, and whoever it tells: processes side by side, from end to end."""
