"""The records everything else passes around: frozen, plain, importing nothing of ours.

Times ending in ``_seconds`` are floats; instants are UTC-aware datetimes.
The words are those of ``docs/glossary.md``.
"""

from monitor.model.measure import (
    Calibration,
    Entity,
    FirstTokens,
    GroupBaseline,
    Measurement,
    PromptBaseline,
)
from monitor.model.trial import (
    Exchange,
    Expectation,
    Fact,
    Marker,
    Needle,
    Owner,
    Part,
    Trial,
)
from monitor.model.verdict import (
    ExchangeVerdict,
    Outcome,
    Signal,
    SignalKind,
    Status,
    Verdict,
    VerdictClass,
)
from monitor.model.wire import (
    SAID_CHARACTERS,
    Failure,
    FailureKind,
    HangUp,
    Message,
    Request,
    Response,
    Timing,
    TokenLogprob,
    Tool,
    ToolCall,
    Usage,
)

__all__ = [
    "SAID_CHARACTERS",
    "Calibration",
    "Entity",
    "Exchange",
    "ExchangeVerdict",
    "Expectation",
    "Fact",
    "Failure",
    "FailureKind",
    "FirstTokens",
    "GroupBaseline",
    "HangUp",
    "Marker",
    "Measurement",
    "Message",
    "Needle",
    "Outcome",
    "Owner",
    "Part",
    "PromptBaseline",
    "Request",
    "Response",
    "Signal",
    "SignalKind",
    "Status",
    "Timing",
    "TokenLogprob",
    "Tool",
    "ToolCall",
    "Trial",
    "Usage",
    "Verdict",
    "VerdictClass",
]
