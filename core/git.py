"""Reads a git object store at any commit, without a checkout and without writing to the repository.

Contents come from one long-lived ``cat-file --batch``; all else, such as the files of a commit, from a git
process for each question.
"""

import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO

from .closing import Closing
from .errors import InputError, RunError

# What ``git rev-parse --local-env-vars`` lists, set in hooks: it would lead to another repository than the
# one asked for. Settings given by environment stay, as git itself keeps them for a submodule.
LOCAL_VARIABLES = frozenset({
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_CONFIG", "GIT_DIR", "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_INTERNAL_SUPER_PREFIX", "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY", "GIT_PREFIX", "GIT_REPLACE_REF_BASE", "GIT_SHALLOW_FILE", "GIT_WORK_TREE",
})  # fmt: skip
# Nothing here may take a lock, write an index or fetch a missing object; an older git knows the last by
# the protocols it may use alone, and "none" is none of them.
_READ_ONLY = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_REPLACE_OBJECTS": "1",
}

# How a commit begins where `GitStore.messages` has it printed: no message holds a NUL.
_COMMIT = re.compile(r"(?:\A|\0)\x01([0-9a-f]{40,64}) (\d+)\n")


def git_environment(may_fetch: bool = False) -> dict[str, str]:
    """The environment to run git in: for the repository named, in English, and without asking a person.

    Args:
        may_fetch: whether git may also write and fetch, as a clone does.
    """
    kept = {name: value for name, value in os.environ.items() if name not in LOCAL_VARIABLES}
    return kept | {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"} | ({} if may_fetch else _READ_ONLY)


@dataclass(frozen=True, slots=True)
class TreeFile:
    """A regular file of a commit.

    Args:
        path: as git stores it, decoded as UTF-8 with surrogate escapes.
        blob: object name of its content, in hexadecimal.
    """

    path: str
    blob: str


class GitStore(Closing):
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

    def close(self) -> None:
        """Ends the ``cat-file`` process."""
        if self._batch is not None:
            self._batch.kill()
            for stream in (self._batch.stdin, self._batch.stdout):
                if stream is not None:
                    with suppress(OSError):  # a question that a dead process did not take
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
        if self._partly is not None and blob not in self._partly:
            return None
        found = self._object(blob)
        return found and found[1]

    def file(self, commit: str, path: str) -> TreeFile | None:
        """The file of a commit at a path; None if there is none, or the store lacks its content.

        Much faster than `files` where one file is asked for.

        Args:
            commit: full object name.
            path: as git stores it.

        Raises:
            RunError: git ended or answered out of turn.
        """
        if "\n" in path or self._partly is not None:
            return next((file for file in self.files(commit) if file.path == path), None)
        found = self._object(f"{commit}:{path}")
        return found and TreeFile(path, found[0])

    def _object(self, name: str) -> tuple[str, bytes] | None:
        """The hash and the content of an object; None if the store lacks it."""
        started = self._batch is not None
        try:
            head = self._ask(name)
            if not head and started:  # it ended since the object before; nothing is lost with a new one
                self.close()
                head = self._ask(name)
            return self._answer(name, head)
        except BaseException:  # whatever is left of the answer, the next one does not start with it
            self.close()
            raise

    @cached_property
    def _partly(self) -> frozenset[str] | None:
        """The objects at hand of a partial clone, None for a whole one.

        Asked for an object that it may not fetch, git dies where it says "missing" of a whole clone.
        """
        promised = r"^(extensions\.partialclone|remote\..*\.promisor)$"
        if self._git("config", "--get-regexp", promised).returncode != 0:
            return None
        listed = self._git("cat-file", "--batch-all-objects", "--unordered", "--batch-check=%(objectname)")
        if listed.returncode != 0:
            raise RunError(f"the objects of {self.git_dir} cannot be listed: {_last(listed)}")
        return frozenset(listed.stdout.decode().split())

    def difference(self, before: str, after: str) -> str:
        """The unified diff between two commits without any context, decoded with surrogate escapes.

        Raises:
            RunError: one of the commits, or a file of theirs, is not there.
        """
        done = self._git("diff", "--no-renames", "--no-color", "--no-ext-diff", "-U0", before, after, "--")
        if done.returncode != 0:
            raise RunError(
                f"commits {before[:12]} and {after[:12]} of {self.git_dir} cannot be compared: {_last(done)}"
            )
        return done.stdout.decode("utf-8", "surrogateescape")

    def log(self, *arguments: str) -> str:
        """The output of ``git log`` with these arguments, decoded with surrogate escapes.

        Raises:
            RunError: git failed, for instance because the repository has no commit yet.
        """
        done = self._git("log", *arguments)
        if done.returncode != 0:
            raise RunError(f"the history of {self.git_dir} cannot be read: {_last(done)}")
        return done.stdout.decode("utf-8", "surrogateescape")

    def ancestors(self, commit: str) -> list[str]:
        """A commit and all before it, the newest first; what a shallow clone lacks is not among them.

        Raises:
            InputError: the repository has no such commit.
            RunError: its history cannot be read.
        """
        listed = self._git("rev-list", self.commit(commit))
        if listed.returncode != 0:
            raise RunError(f"the history of {self.git_dir} cannot be read: {_last(listed)}")
        return listed.stdout.decode().split()

    def messages(self, commits: Sequence[str]) -> Iterator[tuple[str, int, str, list[str]]]:
        """What commits say of themselves.

        Args:
            commits: full object names.

        Yields:
            The name, the time in seconds since 1970, the message, and the paths changed, which are none for
            a merge; in no certain order.

        Raises:
            RunError: one of the commits, or a tree that it changed, is not there.
        """
        arguments = ("log", "--no-walk=unsorted", "--stdin", "--no-renames", "--name-only", "-z")
        asked = "\n".join(commits).encode() + b"\n"
        done = self._git(*arguments, "--format=%x01%H %ct%n%B", sent=asked)
        if done.returncode != 0:
            raise RunError(f"the history of {self.git_dir} cannot be read: {_last(done)}")
        said = _COMMIT.split(done.stdout.decode("utf-8", "surrogateescape"))[1:]
        for name, time, rest in zip(said[::3], said[1::3], said[2::3], strict=True):
            message, _, paths = rest.partition("\0")
            yield (
                name,
                int(time),
                message.strip(),
                paths.strip("\n\0").split("\0") if paths.strip("\n\0") else [],
            )

    def _ask(self, name: str) -> bytes:
        """The line before the bytes of an object; empty if git ended."""
        sending, receiving = self._pipes()
        try:
            sending.write(name.encode("utf-8", "surrogateescape") + b"\n")
            sending.flush()
            return receiving.readline()
        except OSError:
            return b""

    def _answer(self, name: str, head: bytes) -> tuple[str, bytes] | None:
        if head == name.encode("utf-8", "surrogateescape") + b" missing\n":
            return None
        said = head.split()
        if len(said) == 3 and said[2].isdigit() and (":" in name or said[0] == name.encode()):
            _, receiving = self._pipes()
            content = receiving.read(int(said[2]))
            if len(content) == int(said[2]) and receiving.read(1) == b"\n":
                return said[0].decode(), content
        raise RunError(f"git cat-file ended while reading blob {name} of {self.git_dir}")

    def _pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        if self._batch is None:
            self._batch = subprocess.Popen(
                ["git", f"--git-dir={self.git_dir}", "cat-file", "--batch"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=git_environment(),
            )
        assert self._batch.stdin is not None
        assert self._batch.stdout is not None
        return self._batch.stdin, self._batch.stdout

    def _git(self, *arguments: str, sent: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
        return _run(f"--git-dir={self.git_dir}", *arguments, sent=sent)


def _git_dir(path: Path) -> Path:
    if not path.exists():
        raise InputError(f"there is no repository at {path}; give a work tree, a .git folder or a bare one")
    # A snapshot without a config file is a repository to --git-dir alone, not to discovery.
    if (path / "objects").is_dir() and (path / "HEAD").is_file():
        return path.resolve()
    found = _run("-C", str(path), "rev-parse", "--absolute-git-dir")
    if found.returncode != 0:
        said = " ".join(found.stderr.decode("utf-8", "replace").split())
        raise InputError(
            f"{path} is no git repository; give a work tree, a .git folder or a bare one"
            + ("" if "not a git repository (or any" in said else f" (git says: {said})")
        )
    return Path(os.fsdecode(found.stdout.rstrip(b"\n")))


def _run(*arguments: str, sent: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            ["git", *arguments],
            input=sent,
            capture_output=True,
            check=False,
            env=git_environment(),
        )
    except FileNotFoundError:
        raise InputError("git is not installed; install it and try again") from None


def _last(done: subprocess.CompletedProcess[bytes]) -> str:
    """The last line that git said, or its status."""
    lines = done.stderr.decode("utf-8", "replace").strip().split("\n")
    return lines[-1] or f"status {done.returncode}"
