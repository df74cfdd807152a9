"""Judging stored answers again with the checks of today: nothing is sent, no finding changes."""

from monitor.rescoring.asking import OnRescoreStep, Rescore, RescoreStep
from monitor.rescoring.flow import rescore, rescore_in

__all__ = ["OnRescoreStep", "Rescore", "RescoreStep", "rescore", "rescore_in"]
