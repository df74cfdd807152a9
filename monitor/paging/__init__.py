"""Pages: who is told of a finding directly, what they are told, and that it arrives."""

from monitor.paging.evidence import RecentAnswers
from monitor.paging.opening import open_pager
from monitor.paging.pager import Pager
from monitor.paging.policy import PagePolicy, policy_of, severities_of, severity_of

__all__ = [
    "PagePolicy",
    "Pager",
    "RecentAnswers",
    "open_pager",
    "policy_of",
    "severities_of",
    "severity_of",
]
