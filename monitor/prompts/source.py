"""Reading one suite file as YAML that remembers its lines and cannot explode."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import yaml
from yaml.constructor import SafeConstructor

from monitor.errors import PromptError

MAX_FILE = 256 * 1024  # bytes
_MAX_DEPTH = 16

Step = str | int


# libyaml reads ten times as fast; what is wrong with a text the Python reader says better.
_FAST: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Constructor(SafeConstructor):
    """Content whose dates stay text: they are read where the line of a mistake is known."""

    yaml_constructors: ClassVar = SafeConstructor.yaml_constructors | {
        "tag:yaml.org,2002:timestamp": SafeConstructor.construct_yaml_str
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A file's content, and where in the file each part of it stands."""

    file: Path
    root: yaml.Node
    content: object

    def error(self, problem: str, steps: tuple[Step, ...], remedy: str) -> PromptError:
        """Make the error for the part of the content at these steps."""
        return PromptError(
            problem,
            file=self.file,
            line=_line(self.root, steps),
            path=_written(steps) or None,
            remedy=remedy,
        )


def read_document(file: Path) -> Document:
    """Read one YAML document: bounded, UTF-8, no anchors, no repeated keys."""
    text = _text(file)
    try:
        try:
            return _document(text, file, _FAST)
        except (yaml.YAMLError, ValueError):
            return _document(text, file, yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line = mark.line + 1 if mark else None
        raise PromptError(
            f"not valid YAML: {error.problem}", file=file, line=line, remedy="mend the syntax"
        ) from error
    except (yaml.YAMLError, ValueError) as error:
        raise PromptError("not valid YAML", file=file, remedy="mend the syntax") from error


def _document(text: str, file: Path, loader: type[yaml.SafeLoader]) -> Document:
    _refuse_anchors(text, file, loader)
    root = yaml.compose(text, loader)
    if root is None:
        raise PromptError("the file is empty", file=file, remedy="add a suite or delete it")
    _refuse_repeated_keys(root, file)
    content = _Constructor().construct_document(root)
    return Document(file=file, root=root, content=content)


def _text(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            data = stream.read(MAX_FILE + 1)
        if len(data) > MAX_FILE:
            raise PromptError(
                f"larger than {MAX_FILE // 1024} KiB", file=file, remedy="split the file"
            )
        return data.decode("utf-8")
    except OSError as error:
        raise PromptError(
            f"cannot be read: {error.strerror}", file=file, remedy="mend its permissions"
        ) from error
    except UnicodeDecodeError as error:
        raise PromptError("not UTF-8 text", file=file, remedy="save it as UTF-8") from error


def _refuse_anchors(text: str, file: Path, loader: type[yaml.SafeLoader]) -> None:
    """Read events only, which neither expands nor recurses."""
    depth = 0
    for event in yaml.parse(text, loader):
        line = event.start_mark.line + 1 if event.start_mark else None
        if getattr(event, "anchor", None) is not None:
            raise PromptError(
                "anchors and aliases are not allowed", file=file, line=line, remedy="write it out"
            )
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > _MAX_DEPTH:
            raise PromptError(
                f"nested more than {_MAX_DEPTH} deep", file=file, line=line, remedy="flatten it"
            )


def _refuse_repeated_keys(root: yaml.Node, file: Path) -> None:
    for node, steps in _mappings(root, ()):
        seen: set[str] = set()
        for key, _ in node.value:
            if str(key.value) in seen:
                raise PromptError(
                    f"key '{key.value}' occurs twice",
                    file=file,
                    line=key.start_mark.line + 1,
                    path=_written(steps) or None,
                    remedy="keep one of them",
                )
            seen.add(str(key.value))


def _mappings(
    node: yaml.Node, steps: tuple[Step, ...]
) -> Iterator[tuple[yaml.MappingNode, tuple[Step, ...]]]:
    if isinstance(node, yaml.MappingNode):
        yield node, steps
        for key, value in node.value:
            yield from _mappings(value, (*steps, str(key.value)))
    elif isinstance(node, yaml.SequenceNode):
        for place, value in enumerate(node.value):
            yield from _mappings(value, (*steps, place))


def _line(root: yaml.Node, steps: tuple[Step, ...]) -> int:
    """Return the line of the deepest part that exists; for a key, the line of the key."""
    node, line = root, root.start_mark.line
    for step in steps:
        found = _child(node, step)
        if found is None:
            break
        node, line = found
    return line + 1


def _child(node: yaml.Node, step: Step) -> tuple[yaml.Node, int] | None:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == step:
                return value, key.start_mark.line
    elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        return node.value[step], node.value[step].start_mark.line
    return None


def _written(steps: tuple[Step, ...]) -> str:
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return text.removeprefix(".")
