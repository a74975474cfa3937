"""Real parts for tests: git repositories made in a temporary folder."""

import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import settings

# A slow machine is no fault. In CI each run tries the same examples, so that a red one can be repeated.
settings.register_profile("firstpage", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("firstpage")

Files = Mapping[str, str | bytes | None]


class Repository:
    """A git repository in a temporary folder; each commit is a day after the one before."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._day = 0
        folder.mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *arguments: str) -> str:
        who = {f"GIT_{role}_{field}": value for role in ("AUTHOR", "COMMITTER")
               for field, value in (("NAME", "A Person"), ("EMAIL", "person@example.org"),
                                    ("DATE", f"2026-01-{1 + self._day % 28:02} 12:00:00 +0000"))}  # fmt: skip
        alone = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.folder,
            env=os.environ | who | alone,
            capture_output=True,
            check=True,
        )
        return done.stdout.decode("utf-8", "surrogateescape").strip()

    def commit(self, message: str, files: Files) -> str:
        """Writes the files (None deletes one), commits them and returns the commit's name."""
        for path, content in files.items():
            place = self.folder / path
            if content is None:
                place.unlink()
                continue
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content if isinstance(content, bytes) else content.encode())
        self._day += 1
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.git("rev-parse", "HEAD")


@pytest.fixture(scope="session")
def make_repository(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Repository]:
    return lambda: Repository(tmp_path_factory.mktemp("repository") / "repo")


@pytest.fixture
def repository(make_repository: Callable[[], Repository]) -> Repository:
    return make_repository()


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or fills the person's cache."""
    monkeypatch.setenv("FIRSTPAGE_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def data() -> Path:
    """The folder of outside data, named by FIRSTPAGE_DATA."""
    if not (named := os.environ.get("FIRSTPAGE_DATA")):
        pytest.skip("FIRSTPAGE_DATA is not set; it names the folder with swebench/ and reference/")
    return Path(named)


@pytest.fixture(scope="session")
def tokenizer_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small byte-level BPE tokenizer, trained here."""
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.ByteLevelBPETokenizer()
    tokenizer.train_from_iterator(
        ["src/module_1.py page of items shown left firstpage budget " * 20], vocab_size=400
    )
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.json"
    tokenizer.save(str(path))
    return path
