"""The model card: what a model was trained on, how, with which versions, and what was measured."""

import hashlib
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

_PACKAGES = ("firstpage", "torch", "sentence-transformers", "transformers", "accelerate", "datasets")
_USE = {
    "bi-encoder": """from sentence_transformers import SentenceTransformer

model = SentenceTransformer("FOLDER")
print(model.similarity(model.encode([query]), model.encode(documents)))""",
    "cross-encoder": """from sentence_transformers import CrossEncoder

model = CrossEncoder("FOLDER")
print(model.rank(query, documents))""",
}
_INSTEAD = {"epochs": "max_steps", "dimension": "base"}  # what says nothing where another key is given
_HIDDEN = ("trainer", "data", "train", "dev")
_TASKS = {"bi-encoder": "sentence-similarity", "cross-encoder": "text-ranking"}


def sha256(path: str | Path) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def versions() -> dict[str, str]:
    """The versions of what a training runs on."""
    found = {}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "unknown"
    return found


def card(kind: str, record: Mapping[str, Any]) -> str:
    """The card in Markdown, with the front matter that the Hugging Face hub reads.

    Args:
        kind: ``bi-encoder`` or ``cross-encoder``.
        record: what ``training.json`` tells.

    Returns:
        Text without a path, a host or a person in it: files go by their names.
    """
    settings = record["settings"]
    base = settings["base"] or settings["static"]
    hidden = [*_HIDDEN, *(key for key, instead in _INSTEAD.items() if settings.get(instead))]
    shown = {key: told for key, told in settings.items() if key not in hidden and told not in (None, "", [])}
    parts = [
        f"---\nlibrary_name: sentence-transformers\npipeline_tag: {_TASKS[kind]}\n"
        f"tags: [{kind}, code-search]\n---",
        f"# A {kind} for code search\n\nTrained by firstpage from `{_name(base)}` to find the files that an "
        "issue or a change request is about, among files that look alike.",
        f"```python\n{_USE[kind]}\n```",
        "## Data\n\n" + _data(record),
        "## Protocol\n\nNothing was trained on what an evaluation of firstpage names; a guard refuses such "
        "examples. The development set, of other repositories, chose the checkpoint and saw no gradient.\n\n"
        + _table(("key", "value"), [(key, _shown(value)) for key, value in shown.items()]),
        "## Measured\n\n" + _measured(record),
        "## Versions\n\n" + _table(("package", "version"), list(record["versions"].items())),
    ]
    return "\n\n".join(parts) + "\n"


def _data(record: Mapping[str, Any]) -> str:
    settings = record["settings"]
    rows = [
        ("training", _name(path), f"{count:,}", settings["data"][path])
        for path, count in record["examples"].items()
    ]
    rows += [("development", _name(path), "", settings["data"][path]) for path in settings["dev"]]
    table = _table(("use", "file", "examples", "SHA-256"), rows)
    asked = f"\n\nThe development set asks {record['questions']:,} questions." if settings["dev"] else ""
    return table + asked


def _measured(record: Mapping[str, Any]) -> str:
    steps = f"{record['steps']:,} steps, of which the model is step {record['step']:,}"
    if not record["after"]:
        return f"{steps}. No development set was given, so nothing was measured."
    rows = [
        (name, f"{record['before'][name]:.4f}", f"{after:.4f}") for name, after in record["after"].items()
    ]
    return (
        f"{steps}. Each question of the development set ranks its positives among its mined negatives.\n\n"
        + _table(("figure", "before", "after"), rows)
    )


def _table(header: tuple[str, ...], rows: list[tuple[Any, ...]]) -> str:
    lines = [header, tuple("---" for _ in header), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def _name(path: str) -> str:
    """A file's or folder's own name; a name on the hub stays whole."""
    return Path(path).name if Path(path).exists() or path.count("/") != 1 else path


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return _name(value)
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
