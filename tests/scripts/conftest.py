"""The real console script, in a process of its own."""

import io
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from firstpage.scripts.cli import main


@dataclass(frozen=True)
class Done:
    """What a finished run left: its exit status, standard output and standard error."""

    status: int
    out: bytes
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.decode().splitlines()

    def is_refused(self, *said: str, status: int = 2) -> bool:
        """Whether all that came is one line on standard error that says this."""
        assert (self.status, self.out) == (status, b"")
        assert self.err.startswith("firstpage: ")
        assert self.err.count("\n") == 1
        assert self.err.endswith("\n")
        for part in said:
            assert part in self.err
        return True


Firstpage = Callable[..., Done]


@pytest.fixture(scope="session")
def console_script() -> Path:
    """The ``firstpage`` command of the environment that runs the tests."""
    return Path(sys.executable).parent / "firstpage"


@pytest.fixture(autouse=True)
def as_a_person_runs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Output is buffered, and an error is a sentence."""
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    monkeypatch.delenv("FIRSTPAGE_TRACEBACK", raising=False)


@pytest.fixture
def firstpage(console_script: Path) -> Firstpage:
    """Runs ``firstpage`` with these arguments, in any folder, with anything on standard input."""

    def run(*arguments: str | Path, given: bytes | str = b"", cwd: Path | None = None) -> Done:
        done = subprocess.run(
            [console_script, *arguments],
            input=given.encode() if isinstance(given, str) else given,
            cwd=cwd,
            capture_output=True,
            check=False,
            timeout=60,
        )
        return Done(done.returncode, done.stdout, done.stderr.decode())

    return run


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Firstpage:
    """As ``firstpage``, in the process of the test: for the long lists of what is refused."""

    def run(*arguments: str | Path, given: bytes | str = b"", cwd: Path | None = None) -> Done:
        content = given.encode() if isinstance(given, str) else given
        monkeypatch.setattr(sys, "argv", ["firstpage", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        if cwd is not None:
            monkeypatch.chdir(cwd)
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsysbinary.readouterr()
        assert isinstance(ended.value.code, int)
        return Done(ended.value.code, captured.out, captured.err.decode())

    return run


@pytest.fixture
def plug_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Makes a package with one value function of that name, whose method ``values`` has that body."""
    folder = tmp_path / "plug-in"
    folder.mkdir()
    monkeypatch.setenv("PYTHONPATH", str(folder))

    def make(name: str, body: str) -> None:
        (folder / f"{name}_plug_in.py").write_text(
            "import os, time\n"
            f"class Function:\n    '''A function of a test.'''\n    name = '{name}'\n"
            f"    def values(self, query, items):\n        {body}\n"
        )
        about = folder / f"{name}_plug_in-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}-plug-in\nVersion: 1.0\n")
        points = f"[firstpage.value_functions]\n{name} = {name}_plug_in:Function\n"
        (about / "entry_points.txt").write_text(points)

    return make
