"""Repositories whose commits the guard holds out, and lists that stand in for the one that ships."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from firstpage.train import guard


@pytest.fixture
def hold_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Replaces the list of what is held out by one of this repository and these documents."""

    def replace(
        repository: dict[str, Any] | None = None,
        documents: dict[str, str] | None = None,
        development: bool = False,
    ) -> None:
        about = {"evaluation": "a test", "aliases": [], "roots": [], "base_commits": []} | (repository or {})
        listed = {
            "development": ["held/out"] if development else [],
            "repositories": {"held/out": about},
            "prefixes": {"secret": "a test of documents"},
            "documents": {
                name: {
                    "title": name.title(),
                    "evaluation": "a test of documents",
                    "sha256": guard.digest(text),
                    "sketch": guard.sketch(text),
                }
                for name, text in (documents or {}).items()
            },
        }
        path = tmp_path / "held_out.json"
        path.write_text(json.dumps(listed))
        monkeypatch.setattr(guard, "_FILE", path)
        guard.held_out.cache_clear()

    yield replace
    guard.held_out.cache_clear()
