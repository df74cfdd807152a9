"""The code in docs/writing-a-probe.md is run, and kept to the contracts of probes and checks."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from types import ModuleType

import pytest

from monitor import verdicts
from monitor.checks import Check
from monitor.model import Status
from monitor.planning import PROFILES
from monitor.probes import Probe
from monitor.verdicts import Consequence
from tests.architecture.pages import DOCS
from tests.contract import test_checks as check_contract
from tests.contract import test_probes as probe_contract

_EXAMPLE = re.compile(r"<!-- example: ([\w.]+) -->\n```python\n(.*?)```", re.DOTALL)
EXAMPLES = _EXAMPLE.findall((DOCS / "writing-a-probe.md").read_text("utf-8"))
PROBE, CHECK = "monitor.probes.twice", "monitor.checks.parrot"
TESTS = [code for name, code in EXAMPLES if name == "test"]


def source(wanted: str) -> str:
    [code] = [code for name, code in EXAMPLES if name == wanted]
    return code


@pytest.fixture(scope="module")
def modules() -> Iterator[dict[str, ModuleType]]:
    """The example modules, imported as if they were in their place."""
    made = {}
    for name in (PROBE, CHECK):
        assert name not in sys.modules, f"{name} exists now: choose another example"
        made[name] = sys.modules[name] = ModuleType(name)
        exec(compile(source(name), name, "exec"), made[name].__dict__)  # noqa: S102
    yield made
    for name in made:
        del sys.modules[name]


@pytest.fixture
def probe(modules: dict[str, ModuleType]) -> Probe:
    return modules[PROBE].PROBE


@pytest.fixture
def check(modules: dict[str, ModuleType]) -> Check:
    return modules[CHECK].CHECK


@pytest.mark.parametrize("test", TESTS, ids=["probe", "check"])
@pytest.mark.usefixtures("modules")
def test_the_examples_own_tests_pass(test: str) -> None:
    names: dict[str, object] = {}
    exec(compile(test, "docs/writing-a-probe.md", "exec"), names)  # noqa: S102
    found = [each for name, each in names.items() if name.startswith("test_") and callable(each)]
    assert found
    for each in found:
        each()


def test_the_probe_keeps_the_contract(probe: Probe) -> None:
    for profile in PROFILES:
        probe_contract.test_a_plan_states_price_stratum_and_purpose(probe, profile)
    probe_contract.test_a_model_that_does_what_it_is_asked_is_good(probe)
    probe_contract.test_an_answer_about_something_else_is_bad(probe)
    probe_contract.test_another_tenants_marker_in_any_answer_is_a_leak(probe)
    probe_contract.test_spending_stays_within_the_stated_price(probe)
    probe_contract.test_each_exchange_has_its_own_nonce_and_asks_once(probe)
    probe_contract.test_with_one_tenant_and_no_limit_it_plans_or_says_why_not(probe)


def test_the_check_keeps_the_contract(check: Check) -> None:
    for answer in check_contract.ODD:
        check_contract.test_odd_answers_are_judged_without_a_crash_and_without_being_quoted(
            check, answer
        )
    check_contract.test_without_an_answer_no_check_says_pass_unless_it_judges_refusals(check)
    check_contract.test_checks_of_absence_skip_a_cut_answer(check)


def test_what_the_check_fails_with_has_the_row_that_is_shown(check: Check) -> None:
    rows = eval(source("rows"), vars(verdicts))  # noqa: S307 - our own page
    question = "Which of the seven harbours is the northernmost one?"
    exchange = check_contract.an_exchange(question, question)
    trial = check_contract.a_trial(exchange)
    failed = list(check.judge(trial, exchange, check_contract.BENCH.history))
    assert [(s.code, s.variant) for s in failed if s.status is Status.FAIL] == list(rows)
    assert all(isinstance(row, Consequence) for row in rows.values())
