"""Sources of the Grafana dashboards, and what turns them into the JSON that is shipped."""
