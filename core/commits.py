"""What a commit's author and message tell: whether a person asks something, and the text without trailers."""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

_NUMBER = r"v?\d+(\.\w+)+"
# Subjects that ask nothing. Each pattern holds enough of the sentence around its verb to leave alone what
# only starts alike: "Merge sort is slow", "Bump allocator leaks", "Release the lock on errors".
_SKIPPED_SUBJECT = re.compile(
    rf"""
      (fixup|squash|amend)!
    | (revert(s|ed|ing)?|reapply)\b :?\s+ ( ["'\u201c\u2018] | (commit|pull\ request|pr|merge|changeset)\b
        | [0-9a-f]*\d[0-9a-f]*\b | [#r!]\d )
    | revert (\([^)]*\))? !?:
    | merged? \s+ ( (remote-tracking\ )? (branch(es)?|tag|commit)\ ["'\u201c\u2018] | in\ \S+\ \(
        | (branch|remote|origin/\S+|upstream|master|main|trunk|develop)\ (\S+\ )?(into|of|from)\b
        | ((pull|merge)\ request|pr|mr)?\ ?[#!]\d )
    | bump(s|ed|ing)?\b :?\s+ ( (\S+\s+){{0,3}} versions?\b | (\S+\s+){{0,3}} ((to|->|=>|→)\s+)? {_NUMBER}
        | (to|\S+\ from)\ \S*\d | the\ \S+\ group\b
        | (\S+\s+)? (dependenc\w+|deps|requirements|changelog|copyright|lock\ ?files?)\b )
    | releas(e|es|ed|ing)\b :?\s+ ( (\S+\s+){{0,2}} {_NUMBER} | v?\d+\s*$ | (notes|candidate)\b )
    | (prepar(e|es|ed|ing)|start(ed|ing)?|begin|cut|tag(ged)?|post)\b [\s-]+
        ((for|the|a|on|of|work|next|new|dev|development|cycle|release|version|candidate)\s+)* {_NUMBER}
    | (prepar(e|es|ed|ing)|back)\ (for|to)\ (the\ )?(next\ )? (dev|development|release)\b
    | version\s+ ( bump | (is\s+|now\s+|to\s+)* {_NUMBER} [\s.!]* $ )
    | {_NUMBER} [\s:.-]* (release\w*|final|rc\d*|alpha|beta|dev)? [\s.!]* $
    | (update|upgrade)s?d?\s+ (all\s+|the\s+)* ( (dependencies|deps|requirements)\s*$
        | dependency\ \S+\ to\b | (changelog|lock\ ?files?)\b )
    """,
    re.IGNORECASE | re.VERBOSE,
)
# What stands before the subject proper: "chore(release): ", "[maint] ".
_LABEL = re.compile(r"(\[[^\]]*\]|[\w-]+(\([^)]*\))?!?:)\s+")
_REVERTS = re.compile(r".*\n+This reverts commit [0-9a-f]{7}")
_BOT = re.compile(
    r"\[bot\]$|[-_](ro)?bot$|^(travis|release|ci|build|merge|docs)\ bot$"
    r"|^(dependabot|renovate|pre-commit-ci|github-actions|greenkeeper|pyup)\b",
    re.IGNORECASE,
)
_TRAILER = re.compile(
    r"^((signed-off|co-authored|co-developed|reviewed|acked|tested|reported|suggested|helped|approved)-by"
    r"|cc|link|change-id|git-svn-id|reviewed-on|pr-url|differential revision|pull request resolved)\s?:"
    r"|^\(cherry picked from commit\b",
    re.IGNORECASE,
)


def is_bot(author: str) -> bool:
    """Whether the name of an author is that of a machine.

    Example:
        >>> is_bot("dependabot[bot]"), is_bot("Ann Abbot")
        (True, False)
    """
    return bool(_BOT.search(author))


def asks_nothing(message: str) -> bool:
    """Whether a message tells of a merge, a revert, a release or a new version of something, by its subject.

    Example:
        >>> asks_nothing("chore: bump version to 3.4.5"), asks_nothing("Bump allocator leaks")
        (True, False)
    """
    subject = subject_of(message)
    return bool(
        _SKIPPED_SUBJECT.match(subject)
        or _SKIPPED_SUBJECT.match(without_label(subject))
        or _REVERTS.match(message)
    )


def subject_of(message: str) -> str:
    """The first line that is not blank."""
    return message.strip().split("\n")[0]


def without_label(subject: str) -> str:
    """A subject without the label before it, such as ``chore(release): `` or ``[maint] ``.

    Example:
        >>> without_label("fix(cache): keep what was read")
        'keep what was read'
    """
    return _LABEL.sub("", subject, count=1) if _LABEL.match(subject) else subject


def without_trailers(message: str) -> str:
    """The message without lines such as ``Signed-off-by: …``."""
    lines = [line for line in message.strip().split("\n") if not _TRAILER.match(line.strip())]
    return "\n".join(lines).strip()


def moved(changes: Sequence[tuple[str, str]]) -> int:
    """How many of the (status letter, path) are the two halves of a move: one name both added and deleted."""
    added = {PurePosixPath(path).name for status, path in changes if status == "A"}
    deleted = {PurePosixPath(path).name for status, path in changes if status == "D"}
    return 2 * len(added & deleted)
