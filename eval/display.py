"""How tables and the report show numbers and foreign text.

Every string of a task, a path or an error is foreign: a commit's message may hold markup, control
characters or half a surrogate pair.
"""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markupsafe import Markup

Rate = Mapping[str, Any]  # a share of tasks as `eval.summary.rate` makes it

# Control characters, halves of surrogate pairs, and marks that reverse the text around them.
_UNFIT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


def digits(tasks: int) -> int:
    """Decimals of a percentage: none where fewer than 100 tasks carry it."""
    return 1 if tasks >= 100 else 0


def percent(share: Rate | float, digits: int = 1) -> str:
    """A share in percent, without the sign.

    Example:
        >>> percent(0.242), percent(0.242, digits=0)
        ('24.2', '24')
    """
    return f"{100 * (share if isinstance(share, float) else share['rate']):.{digits}f}"


def interval(share: Rate, digits: int = 1) -> str:
    """The 95 % interval of a share in percent."""
    low, high = share["interval"]
    return f"{100 * low:.{digits}f}–{100 * high:.{digits}f}"


def with_interval(share: Rate, digits: int = 1) -> str:
    """A share in percent and its 95 % interval.

    Example:
        >>> with_interval({"rate": 0.242, "interval": [0.2066, 0.2814]})
        '24.2 (20.7–28.1)'
    """
    return f"{percent(share, digits)} ({interval(share, digits)})"


def signed(difference: float, digits: int) -> str:
    """A difference of two shares in points.

    Example:
        >>> signed(-0.031, digits=1), signed(-0.0001, digits=1)
        ('−3.1', '0.0')
    """
    shown = f"{100 * difference:+.{digits}f}"
    return shown[1:] if not float(shown) else shown.replace("-", "−")


def milliseconds(seconds: float) -> str:
    """Two significant digits at least, and no exponent."""
    shown = 1000 * seconds
    return f"{shown:.0f}" if shown >= 10 else f"{shown:.1f}" if shown >= 1 else f"{shown:.2f}"


def clean(text: str) -> str:
    """Text that a browser shows as it is, whoever wrote it; markup in it is not escaped yet."""
    return _UNFIT.sub("\ufffd", text)


def cut(text: str, length: int) -> str:
    """At most ``length`` characters, with a mark where some are left out."""
    return text if len(text) <= length else text[: length - 1] + "…"


def breakable(path: str) -> "Markup":
    """A path that may be broken behind its slashes."""
    from markupsafe import Markup, escape

    return Markup(str(escape(clean(path))).replace("/", "/<wbr>"))  # noqa: S704 - escaped
