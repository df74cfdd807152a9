"""The shipped Grafana dashboards: where they are, whether they hold, and taking them to a Grafana.

They are made in a checkout, by grafanalib (`dashboards/`); nothing here needs that.
"""

from monitor.grafana.checking import Fault, Known, faults_of, known_names
from monitor.grafana.pushing import Grafana, Pushed, push
from monitor.grafana.shipped import Dashboard, dashboards_folder, dashboards_in, schema_of

__all__ = [
    "Dashboard",
    "Fault",
    "Grafana",
    "Known",
    "Pushed",
    "dashboards_folder",
    "dashboards_in",
    "faults_of",
    "known_names",
    "push",
    "schema_of",
]
