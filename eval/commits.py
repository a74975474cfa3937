"""Tasks from a repository's own history: a commit's message is the query, the files it changed the gold.

The base commit of a task is the parent of its commit, so that nothing newer is visible to it. A message is
written by someone who has seen the change, which makes these tasks easier than issues; they serve to
compare value functions with each other, not with figures from issues.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..core.commits import asks_nothing, is_bot, moved, without_trailers
from ..core.errors import InputError
from ..core.git import GitStore
from .tasks import Task

MOST_FILES = 10  # a commit that touches more is a sweep, not the answer to a question
_CHUNK = 500  # commits of history read at a time

_FORMAT = "%H%x00%P%x00%an%x00%B%x00"  # git takes no NUL into a message


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit of a linear history.

    Args:
        name: full object name.
        parent: object name of the first parent; empty for a root.
        author: name.
        message: whole.
        changes: (status letter, path) of each file, as ``git log --no-renames`` tells.
    """

    name: str
    parent: str
    author: str
    message: str
    changes: Sequence[tuple[str, str]]


def history(store: GitStore, start: str = "HEAD") -> Iterator[Commit]:
    """The commits that lead to ``start``, newest first, merges left out.

    Raises:
        InputError: the repository has no such commit.
        RunError: its history cannot be read.
    """
    start = store.commit(start)
    skip = 0
    while True:
        # Rename detection reads contents, slows a long history and aborts where a blob is missing.
        log = store.log(
            "--no-merges", "--no-renames", "--name-status", "-z", f"--format={_FORMAT}",
            "--no-show-signature", "--encoding=UTF-8", f"--skip={skip}", f"--max-count={_CHUNK}", start, "--",
        )  # fmt: skip
        commits = list(_commits(log.split("\0")))
        yield from commits
        if len(commits) < _CHUNK:
            return
        skip += _CHUNK


def _commits(fields: Sequence[str]) -> Iterator[Commit]:
    """The commits in the output of git log: four fields, an empty one, then status and path of each file."""
    at = 0
    while at + 4 < len(fields):
        name, parents, author, message = fields[at : at + 4]
        at += 5
        changes = []
        while len(status := fields[at].strip("\n")) == 1:
            changes.append((status, fields[at + 1]))
            at += 2
        yield Commit(name, parents.split(" ")[0], author, message, changes)


def task_from(commit: Commit, repo: str, suffixes: Sequence[str]) -> Task | None:
    """The commit as a task, or None where it asks no question.

    Dropped are roots, reverts, version bumps, commits by bots, mass renames, commits of more than
    `MOST_FILES` files, messages of fewer than three words, and those that changed no file of the corpus
    that existed before.
    """
    changed = [path for status, path in commit.changes if status == "M" and path.endswith(tuple(suffixes))]
    dropped = (
        not commit.parent
        or not changed
        or len(commit.changes) > MOST_FILES
        or is_bot(commit.author)
        or asks_nothing(commit.message)
        or moved(commit.changes) * 2 > len(commit.changes)
    )
    text = without_trailers(commit.message)
    if dropped or len(text.split()) < 3:
        return None
    return Task(instance_id=commit.name[:12], repo=repo, base_commit=commit.parent, query=text, gold=changed)


def tasks_of(store: GitStore, repo: str, suffixes: Sequence[str], limit: int) -> list[Task]:
    """The newest ``limit`` tasks of a repository.

    Raises:
        InputError: the repository has no commit that makes a task.
    """
    tasks = []
    for commit in history(store):
        if task := task_from(commit, repo, suffixes):
            tasks.append(task)
            if len(tasks) == limit:
                break
    if not tasks:
        raise InputError(
            f"no commit of {repo} makes a task; it takes commits that change up to {MOST_FILES} existing "
            "files with a message of three words or more (--suffix names other kinds of files)"
        )
    return tasks
