"""Rules of the source that no linter keeps: imports, sizes, names, handlers, heavy modules."""

from __future__ import annotations

import ast
import subprocess
import sys

from tests.architecture.source import ROOT, imported, product, top

MOST_LINES_A_FILE = 400
MOST_LINES_A_FUNCTION = 60
# Larger ones, each with the reason why it is not split. Better empty.
LARGE_FILES: dict[str, str] = {}
LARGE_FUNCTIONS: dict[str, str] = {}

JUNK_DRAWERS = {"utils", "util", "helpers", "helper", "misc", "common"}

# `davylamp --help` must be quick: none of these is loaded before a verb needs it.
HEAVY = (
    *("chdb", "clickhouse_connect", "starlette", "uvicorn", "apscheduler"),
    *("httpx", "pydantic", "cryptography", "opentelemetry", "requests"),
)
HTTPX_MAY_BE_IMPORTED_BY = {
    "monitor/http.py": "the bounded client of everything that goes to a target",
    "monitor/nodes/guard.py": "a transport beneath http.py, that connects only where it may",
    "monitor/daemon/line.py": "a plain client of our own daemon on loopback",
    "monitor/cli/doctor_line.py": "names the transport and TLS settings that it hands to http.py",
}
BROAD_HANDLERS = {
    "monitor/checks/base.py": "a check that crashes could not tell",
    "monitor/pipeline.py": "a probe that crashes leaves a trial that is invalid",
    "monitor/store/writer.py": "what a job raises is raised again where it was asked for",
}


def test_our_own_modules_are_imported_at_the_top() -> None:
    hidden = [
        f"{module.path}:{node.lineno}"
        for module in product()
        for function in module.functions()
        for node in ast.walk(function)
        if any(top(name) == "monitor" for name in imported(node))
    ]
    assert not hidden, "an import within a function hides a cycle from the layers"


def test_files_are_small() -> None:
    large = {m.path: n for m in product() if (n := len(m.text.splitlines())) > MOST_LINES_A_FILE}
    assert large.keys() == LARGE_FILES.keys(), f"split by noun, or give a reason: {large}"


def test_functions_are_short() -> None:
    long = {
        f"{module.path}:{function.name}": lines
        for module in product()
        for function in module.functions()
        if (lines := (function.end_lineno or 0) - function.lineno + 1) > MOST_LINES_A_FUNCTION
    }
    assert long.keys() == LARGE_FUNCTIONS.keys(), f"cut, or give a reason: {long}"


def test_no_module_is_a_junk_drawer() -> None:
    parts = {(m.path, p) for m in product() for p in m.path.removesuffix(".py").split("/")}
    assert not [path for path, part in parts if part.strip("_") in JUNK_DRAWERS]


def test_the_table_of_verbs_loads_nothing_heavy() -> None:
    code = f"import sys, monitor.cli.main; print([h for h in {HEAVY} if h in sys.modules])"
    loaded = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert loaded.stdout.strip() == "[]"


def test_one_module_speaks_http() -> None:
    importers = {
        module.path
        for module in product()
        for node in ast.walk(module.tree)
        if any(top(name) == "httpx" for name in imported(node))
    }
    assert importers == HTTPX_MAY_BE_IMPORTED_BY.keys(), "go through monitor/http.py"


def test_there_are_three_broad_handlers() -> None:
    """One that ends by raising again only tidies up, and swallows nothing."""
    found = [
        module.path
        for module in product()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ExceptHandler) and _is_broad(node) and not _raises_again(node)
    ]
    assert sorted(found) == sorted(BROAD_HANDLERS)


def _is_broad(handler: ast.ExceptHandler) -> bool:
    caught = ast.unparse(handler.type) if handler.type else "BaseException"
    return "Exception" in caught.replace("(", " ").replace(")", " ").replace(",", " ").split() or (
        "BaseException" in caught
    )


def _raises_again(handler: ast.ExceptHandler) -> bool:
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None
