"""Reads a git object store at any commit, without a checkout and without writing to the repository.

Everything goes through two git processes: ``ls-tree`` for a commit's files and one long-lived
``cat-file --batch`` for their contents.
"""

import os
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO

from .errors import InputError, RunError

# Nothing here may take a lock, write an index, ask a person or fetch a missing object.
_ENVIRONMENT = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "LC_ALL": "C",
}


@dataclass(frozen=True, slots=True)
class TreeFile:
    """A regular file of a commit.

    Args:
        path: as git stores it, decoded as UTF-8 with surrogate escapes.
        blob: object name of its content, in hexadecimal.
    """

    path: str
    blob: str


class GitStore:
    """The object store of a repository.

    Args:
        path: a work tree, a ``.git`` folder or a bare repository.

    Raises:
        InputError: there is no repository at ``path``, or git is not installed.

    Example:
        >>> with GitStore(".") as store:  # doctest: +SKIP
        ...     files = store.files("HEAD", suffixes=(".py",))
        ...     bodies = dict(store.contents(file.blob for file in files))
    """

    def __init__(self, path: str | Path) -> None:
        self.git_dir = _git_dir(Path(path))
        self._batch: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "GitStore":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the ``cat-file`` process."""
        if self._batch is not None:
            self._batch.kill()
            for stream in (self._batch.stdin, self._batch.stdout):
                if stream is not None:
                    stream.close()
            self._batch.wait()
            self._batch = None

    def commit(self, name: str = "HEAD") -> str:
        """The full object name of a commit.

        Raises:
            InputError: the repository has no such commit.
        """
        found = self._git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        if found.returncode != 0:
            raise InputError(f"the repository {self.git_dir} has no commit '{name}'; fetch it first")
        return found.stdout.decode().strip()

    def files(self, commit: str, suffixes: Sequence[str] = ()) -> list[TreeFile]:
        """The regular files of a commit in tree order; links and submodules are none.

        Args:
            commit: any name of a commit.
            suffixes: the endings to keep, such as ``(".py", ".pyi")``; all files if empty.

        Raises:
            InputError: the repository has no such commit.
            RunError: its tree cannot be read.
        """
        listed = self._git("ls-tree", "-r", "-z", "--full-tree", self.commit(commit))
        if listed.returncode != 0:
            raise RunError(f"the tree of commit '{commit}' in {self.git_dir} cannot be read: {_last(listed)}")
        endings = tuple(suffixes)
        files = []
        for row in listed.stdout.decode("utf-8", "surrogateescape").split("\0"):
            mode_kind_blob, _, path = row.partition("\t")
            if mode_kind_blob.startswith("100") and (not endings or path.endswith(endings)):
                files.append(TreeFile(path, mode_kind_blob.split(" ")[2]))
        return files

    def contents(self, blobs: Iterable[str]) -> Iterator[tuple[str, bytes | None]]:
        """Each blob with its bytes, in the order asked for; None for one that the store lacks.

        Raises:
            RunError: git ended or answered out of turn.
        """
        for blob in blobs:
            yield blob, self.content(blob)

    def content(self, blob: str) -> bytes | None:
        """The bytes of one blob; None if the store lacks it.

        Raises:
            RunError: git ended or answered out of turn.
        """
        sending, receiving = self._pipes()
        sending.write(blob.encode() + b"\n")
        sending.flush()
        answer = receiving.readline().split()
        if len(answer) == 2 and answer[1] == b"missing":
            return None
        if len(answer) != 3:
            self.close()
            raise RunError(f"git cat-file ended while reading blob {blob} of {self.git_dir}")
        content = receiving.read(int(answer[2]))
        receiving.read(1)
        return content

    def log(self, *arguments: str) -> str:
        """The output of ``git log`` with these arguments, decoded with surrogate escapes.

        Raises:
            RunError: git failed, for instance because the repository has no commit yet.
        """
        done = self._git("log", *arguments)
        if done.returncode != 0:
            raise RunError(f"the history of {self.git_dir} cannot be read: {_last(done)}")
        return done.stdout.decode("utf-8", "surrogateescape")

    def _pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        if self._batch is None or self._batch.poll() is not None:
            self._batch = subprocess.Popen(
                ["git", f"--git-dir={self.git_dir}", "cat-file", "--batch"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=os.environ | _ENVIRONMENT,
            )
        assert self._batch.stdin is not None
        assert self._batch.stdout is not None
        return self._batch.stdin, self._batch.stdout

    def _git(self, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        return _run(f"--git-dir={self.git_dir}", *arguments)


def _git_dir(path: Path) -> Path:
    if not path.exists():
        raise InputError(f"there is no repository at {path}; give a work tree, a .git folder or a bare one")
    # A snapshot without a config file is a repository to --git-dir alone, not to discovery.
    if (path / "objects").is_dir() and (path / "HEAD").is_file():
        return path.resolve()
    found = _run("-C", str(path), "rev-parse", "--absolute-git-dir")
    if found.returncode != 0:
        raise InputError(f"{path} is no git repository; give a work tree, a .git folder or a bare one")
    return Path(os.fsdecode(found.stdout.rstrip(b"\n")))


def _run(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            ["git", *arguments],
            capture_output=True,
            check=False,
            env=os.environ | _ENVIRONMENT,
        )
    except FileNotFoundError:
        raise InputError("git is not installed; install it and try again") from None


def _last(done: subprocess.CompletedProcess[bytes]) -> str:
    """The last line that git said, or its status."""
    lines = done.stderr.decode("utf-8", "replace").strip().split("\n")
    return lines[-1] or f"status {done.returncode}"
