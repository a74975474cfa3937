"""Real tools in a small repository, and what every page must keep."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from firstpage.core.formats import decode, parse

CODE = """import re


def find(text):
    'Look for needle-1-in:2:hay.'
    return re.search("needle", text)
"""
ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_SYSTEM": "/dev/null",
    "HOME": "/nonexistent",
    "LC_ALL": "C.UTF-8",
    "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
}

Run = Callable[..., str]
CheckPage = Callable[..., str]


def _run(cwd: Path, *command: str, stdin: bytes | None = None) -> str:
    done = subprocess.run(command, cwd=cwd, input=stdin, env=ENVIRONMENT, capture_output=True, check=False)
    assert done.returncode in {0, 1}, done.stderr.decode()
    return decode(done.stdout)


@pytest.fixture(scope="session")
def run() -> Run:
    """Runs a command in a folder and gives what it prints; skips where the command is absent."""

    def run_or_skip(cwd: Path, *command: str, stdin: bytes | None = None) -> str:
        if not shutil.which(command[0], path=ENVIRONMENT["PATH"]):
            pytest.skip(f"{command[0]} is not on this machine")
        return _run(cwd, *command, stdin=stdin)

    return run_or_skip


@pytest.fixture(scope="session")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with two commits: names and contents that are hard to parse."""
    folder = tmp_path_factory.mktemp("repo")
    files = {
        "src/find.py": CODE,
        "src/find-2-old.py": CODE,
        "src/deep/a-1-b/x.py": CODE * 8,
        "docs/ü b.md": "a needle in\nthe - hay\n",
        "Makefile": "needle:\n\techo needle\n",
        "bin.dat": "needle\0\1\2\n",
        "crlf.txt": "one\r\nneedle\r\nthree\r\n",
        "end.txt": "no line end",
        "gone.py": CODE,
        "old name.py": CODE * 2,
        "sql.sql": "select 1;\n-- needle\n-- two\nselect 2;\n",
        "mode.sh": "echo needle\n",
    }
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode())
    _run(folder, "git", "init", "-q", "-b", "main")
    _run(folder, "git", "config", "user.name", "A")
    _run(folder, "git", "config", "user.email", "a@example.org")
    _run(folder, "git", "add", ".")
    _run(folder, "git", "commit", "-qm", "First commit\n\nWith a body.")
    (folder / "gone.py").unlink()
    (folder / "old name.py").rename(folder / "new name.py")
    (folder / "mode.sh").chmod(0o755)
    (folder / "bin.dat").write_bytes(b"needle\0\3\4\5\n" * 4)
    (folder / "end.txt").write_bytes(b"still no line end\nbut more")
    (folder / "crlf.txt").write_bytes(b"one\r\nneedle 2\r\nthree\r\n")
    (folder / "sql.sql").write_bytes(b"select 1;\n++ needle\nselect 2;\n")
    lines = (CODE * 8).split("\n")
    lines[2], lines[20], lines[40] = "# first", "# second\n# more", "# third"
    (folder / "src/deep/a-1-b/x.py").write_bytes("\n".join(lines).encode())
    (folder / "added.py").write_bytes(CODE.encode())
    _run(folder, "git", "add", "-A")
    _run(folder, "git", "commit", "-qm", "Second commit")
    return folder


@pytest.fixture(scope="session")
def check_page() -> CheckPage:
    """Renders chosen items, checks what holds for every page of every form, and gives the page."""

    def check(text: str, form: str, places: Sequence[int], note: str = "", **options: str) -> str:
        answer = parse(text, form, **options)
        items = [answer.items[place] for place in places]
        page = answer.render(items, note)
        pieces = sum(len(answer.piece(item)) for item in items)
        assert len(page) <= len(answer.render([], note)) + pieces, "the pieces are no upper bound"
        again = parse(page, form, **options) if items or note else answer
        items = items or ([] if note else again.items)
        assert sorted(item.text for item in again.items) == sorted(item.text for item in items)
        last_line = page.rstrip("\r\n\0").split("\n")[-1].split("\0")[-1]
        assert note in (page if form == "mcp" else last_line)  # where it stands in a result is up to others
        return page

    return check
