"""What Prometheus rules are tried with."""
