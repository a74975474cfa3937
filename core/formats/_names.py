"""What a tool writes for a file, and the path to look it up by."""

import re

_ESCAPES = re.compile(r'(?:\\(?:[0-7]{3}|[abtnvfr"\\]))+')
_LETTERS = dict(zip(b'abtnvfr"\\', b'\a\b\t\n\v\f\r"\\', strict=True))
_HERE = re.compile(r"(?:\./+)+(?=.)", re.DOTALL)
_WINDOWS = re.compile(r"[A-Za-z]:[\\/].*|\\\\.+|\.{1,2}\\[^/]*|[\w .@()+~-]+(?:\\[\w .@()+~-]+)+", re.DOTALL)
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_ROOTED = re.compile(r"\.{0,2}/[\w.]|[A-Za-z]:[\\/]")
_EXTENSION = re.compile(r"\w\.[A-Za-z]\w{0,9}\Z")  # letter first: neither 3.14 nor 10.0.0.1 has one
_NEVER = re.compile(r'[\0-\x1f<>|*?"]|://|[,;]\Z')
_BARE = re.compile(r"\.?[\w+@~-][\w.+@~-]*")


def lookup_path(name: str) -> str:
    r"""The path that a tool means by ``name``.

    Git's C-style quotes are taken off, ``./`` in front goes, and a name that is clearly a Windows path
    gets forward slashes. Bytes that are no UTF-8 become lone surrogates, as in `decode`.

    Example:
        >>> lookup_path('"a\\303\\244.py"'), lookup_path("./b.py"), lookup_path("C:\\x\\y.py")
        ('aä.py', 'b.py', 'C:/x/y.py')
    """
    if not name.startswith(('"', "./")) and "\\" not in name:
        return name
    if is_quoted(name):
        name = _ESCAPES.sub(_unescaped, name[1:-1])
    elif "\\" in name and _WINDOWS.fullmatch(name):
        name = name.replace("\\", "/")
    return _HERE.sub("", name, count=1) if name.startswith("./") else name


def is_quoted(name: str) -> bool:
    """Whether the name stands in git's C-style quotes."""
    return len(name) > 2 and name[0] == name[-1] == '"'


def _unescaped(escapes: re.Match[str]) -> str:
    codes = escapes[0].encode().split(b"\\")
    raw = bytearray()
    at = 1
    while at < len(codes):
        code = codes[at]
        if not code:  # an escaped backslash was split in two
            raw.append(0x5C)
            at += 1
        else:
            raw.append(_LETTERS[code[0]] if code[0] in _LETTERS else int(code, 8) & 0xFF)
        at += 1
    return raw.decode("utf-8", "surrogateescape")


def is_file_like(name: str) -> bool:
    """Whether the name, seen alone, looks like a file's: it has a folder or an extension."""
    if len(name) > 4096:
        return False
    if is_quoted(name):
        return "\\" in name  # git quotes no name that needs no escape
    if _NEVER.search(name):
        return False
    folder = "/" in name or "\\" in name
    extension = has_extension(name)
    if ":" in (name[2:] if _DRIVE.match(name) else name) or name != name.strip():
        return False
    if " " in name:
        return folder and (extension or _ROOTED.match(name) is not None)
    return folder or extension


def has_extension(name: str) -> bool:
    """Whether the name ends in an extension that starts with a letter."""
    return _EXTENSION.search(name, max(0, len(name) - 12)) is not None


def is_name_like(name: str) -> bool:
    """Whether the name could be a file's among others that surely are: ``Makefile``, ``src``."""
    return len(name) <= 255 and _BARE.fullmatch(name) is not None
