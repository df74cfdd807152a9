"""Streams under watch: each verdict's scores, the evidence they add up to, and alarms.

``detect`` has the rules and ``streams`` says what is scored; here they are kept and followed.
"""

from monitor.watching.book import Book, Move
from monitor.watching.collector import StreamCollector
from monitor.watching.ending import Ending, alarm_of, keep_ended, place_of
from monitor.watching.fleet import PAGING, Fleet, scores_a_day
from monitor.watching.flow import MOVED, Tell, Watching, watching_over
from monitor.watching.kept import Refused, read
from monitor.watching.scores import Score, scores_of
from monitor.watching.sink import WatchingSink
from monitor.watching.standing import Standing
from monitor.watching.tolerances import Held, HeldBy, Tolerances, held

__all__ = [
    "MOVED",
    "PAGING",
    "Book",
    "Ending",
    "Fleet",
    "Held",
    "HeldBy",
    "Move",
    "Refused",
    "Score",
    "Standing",
    "StreamCollector",
    "Tell",
    "Tolerances",
    "Watching",
    "WatchingSink",
    "alarm_of",
    "held",
    "keep_ended",
    "place_of",
    "read",
    "scores_a_day",
    "scores_of",
    "watching_over",
]
