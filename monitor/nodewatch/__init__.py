"""Nodes under watch: read again and again, judged, kept, told of, and shown as metrics."""

from monitor.nodewatch.flow import NodeWatch, node_watch_over
from monitor.nodewatch.now import NodesNow
from monitor.nodewatch.verdicts import node_verdict

__all__ = ["NodeWatch", "NodesNow", "node_verdict", "node_watch_over"]
