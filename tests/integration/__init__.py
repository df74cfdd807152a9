"""Real processes: labs, the command and the daemon, each in a folder of its own."""
