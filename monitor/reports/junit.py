"""The check report as JUnit XML: one suite a target, one case a stratum; one of nodes."""

from __future__ import annotations

from collections import defaultdict
from xml.etree import ElementTree as ET

from monitor.model import VerdictClass
from monitor.reports.check import CheckReport, TargetReport, TrialReport
from monitor.reports.terminal import printable


def junit_xml(report: CheckReport) -> str:
    """Return JUnit XML. Bad is a failure, error and invalid an error, not probed is skipped."""
    root = ET.Element("testsuites", name="davylamp check")
    for target in report.targets:
        _suite(root, target)
    if report.nodes or report.gateways:
        _nodes(root, report)
    return ET.tostring(root, encoding="unicode", xml_declaration=True)


def _fails(trial: TrialReport, target: TargetReport) -> bool:
    """True for what makes the check fail: a tolerated wrong answer alone does not."""
    if trial.outcome != "bad":
        return False
    return trial.verdict_class != VerdictClass.WRONG.label or target.answers.exceeded


def _suite(root: ET.Element, target: TargetReport) -> None:
    suite = ET.SubElement(root, "testsuite", name=printable(target.target))
    strata: dict[tuple[str, str], list[TrialReport]] = defaultdict(list)
    for trial in target.trials:
        strata[trial.probe, trial.stratum].append(trial)
    failures = errors = 0
    for (probe, stratum), trials in sorted(strata.items()):
        case = ET.SubElement(suite, "testcase", classname=probe, name=stratum)
        worst = min(trials, key=lambda t: ("bad", "error", "invalid", "good").index(t.outcome))
        text = printable(f"{worst.reason} (trial {worst.trial})")
        if _fails(worst, target):
            failures += 1
            ET.SubElement(case, "failure", type=worst.verdict_class, message=text)
        elif worst.outcome in ("error", "invalid"):
            errors += 1
            ET.SubElement(case, "error", type=worst.outcome, message=text)
    for entry in target.not_probed:
        case = ET.SubElement(suite, "testcase", classname=entry.probe, name=entry.stratum)
        ET.SubElement(case, "skipped", message=f"NOT PROBED: {entry.reason}")
    suite.set("tests", str(len(strata) + len(target.not_probed)))
    suite.set("failures", str(failures))
    suite.set("errors", str(errors))
    suite.set("skipped", str(len(target.not_probed)))


def _nodes(root: ET.Element, report: CheckReport) -> None:
    """Add a suite with one case a node, and one a gateway."""
    suite = ET.SubElement(root, "testsuite", name="nodes")
    failures = errors = 0
    for node in report.nodes:
        where, name = printable(node.target), printable(node.node)
        case = ET.SubElement(suite, "testcase", classname=where, name=name)
        text = printable(node.reason)
        if node.outcome == "bad":
            failures += 1
            ET.SubElement(case, "failure", type=node.verdict_class, message=text)
        elif node.outcome == "invalid":
            errors += 1
            ET.SubElement(case, "error", type=node.outcome, message=text)
    for gateway in report.gateways:
        case = ET.SubElement(suite, "testcase", classname=printable(gateway.target), name="gateway")
        if gateway.unread:
            errors += 1
            ET.SubElement(case, "error", type="invalid", message=printable(gateway.unread[0]))
    suite.set("tests", str(len(report.nodes) + len(report.gateways)))
    suite.set("failures", str(failures))
    suite.set("errors", str(errors))
    suite.set("skipped", "0")
