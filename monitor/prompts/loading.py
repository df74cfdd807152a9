"""From a folder of suites to records, or an error that names the line to mend."""

from pathlib import Path

from pydantic import ValidationError

from monitor.errors import PromptError
from monitor.prompts.forms import broken_forms
from monitor.prompts.matching import missing_facts
from monitor.prompts.record import GoldenPrompt
from monitor.prompts.schema import SuiteShape, explain
from monitor.prompts.source import Document, read_document

MAX_FILES = 200


def shipped_folder() -> Path:
    """Return the golden prompts that come with Davylamp: in a wheel, or in a checkout."""
    package = Path(__file__).resolve().parents[1]
    inside = package / "shipped" / "golden_prompts"
    return inside if inside.is_dir() else package.parent / "golden_prompts"


def load_suites(folder: Path) -> tuple[GoldenPrompt, ...]:
    """Read `<folder>/<suite>/*.yaml`, ordered by suite, file and place in the file.

    Raises `PromptError` (a `ConfigError`) on the first thing that is wrong.
    """
    places: dict[str, str] = {}
    prompts: list[GoldenPrompt] = []
    for file in _suite_files(folder):
        document = read_document(file)
        found = _shape(document).records()
        for place, prompt in enumerate(found):
            _refuse_weak(document, place, prompt)
            _refuse_wrong(document, place, prompt)
            if prompt.name in places:
                raise document.error(
                    f"id '{prompt.id}' is taken by {places[prompt.name]}",
                    ("prompts", place, "id"),
                    "give each prompt of a suite its own id",
                )
            places[prompt.name] = f"prompts[{place}] of {file.name}"
        prompts.extend(found)
    return tuple(prompts)


def _suite_files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise PromptError("no such folder", file=folder, remedy="name a folder of suites")
    stray = sorted([*folder.glob("*.y*ml"), *folder.glob("*/*.yml")])
    if stray:
        raise PromptError(
            "not where suites are looked for",
            file=stray[0],
            remedy="move it to <suite>/<name>.yaml",
        )
    suites = sorted(one for one in folder.iterdir() if one.is_dir() and one.name[0] not in "._")
    files = [sorted(suite.glob("*.yaml")) for suite in suites]
    for suite, its_files in zip(suites, files, strict=True):
        if not its_files:
            raise PromptError(
                "the suite is empty", file=suite, remedy="add a .yaml file or remove it"
            )
    if not 0 < sum(map(len, files)) <= MAX_FILES:
        raise PromptError(
            f"expected 1 to {MAX_FILES} suite files", file=folder, remedy="name a folder of suites"
        )
    return [file for its_files in files for file in its_files]


def _shape(document: Document) -> SuiteShape:
    try:
        shape = SuiteShape.model_validate(document.content)
    except ValidationError as error:
        # A misspelt key is reported as unknown and as missing; the former helps more.
        errors = error.errors(include_url=False)
        first = min(errors, key=lambda one: one["type"] != "extra_forbidden")
        problem, remedy = explain(first)
        raise document.error(problem, first["loc"], remedy) from None
    if shape.suite != document.file.parent.name:
        raise document.error(
            f"suite '{shape.suite}' is in the folder '{document.file.parent.name}'",
            ("suite",),
            "make the two the same",
        )
    return shape


def _refuse_weak(document: Document, place: int, prompt: GoldenPrompt) -> None:
    """Refuse a prompt that an engine passes by saying nothing, or by repeating the question."""
    remedies = {
        "an empty answer": "add an any, all, number, date, json or pattern",
        "an echo of the question": "add a pattern, a json or a none of other words in the question",
    }
    for name, answer in zip(remedies, ("", prompt.prompt), strict=True):
        if not missing_facts(prompt, answer):
            raise document.error(
                f"{name} would meet every expectation", ("prompts", place, "expect"), remedies[name]
            )


def _refuse_wrong(document: Document, place: int, prompt: GoldenPrompt) -> None:
    """Refuse a reference that its own prompt would call wrong."""
    for number, reference in enumerate(prompt.references):
        problems = (*missing_facts(prompt, reference), *broken_forms(prompt, reference).values())
        if problems:
            raise document.error(
                f"reference {number + 1} of '{prompt.id}' is not right: {problems[0]}",
                ("prompts", place, "references", number),
                "mend the reference, or widen what is expected",
            )
