"""The report's charts: how shares of tasks grow with the depth and with the page, as inline SVG."""

import io
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..readers import DEFAULT
from .display import Rate, clean, cut, digits, percent

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Colour in light and in dark mode, and dashes. The ten were found by a search: with normal sight, and under
# protanopia, deuteranopia and (nearly) tritanopia, no two are closer than 0.09 in OKLab, and all have a
# contrast above 3:1. What knows nothing of the query is grey.
_STYLES = {
    "hybrid": ("#335cdb", "#5da3f2", "-"),
    "bm25": ("#763e03", "#da6a47", "-"),
    "priority_kw": ("#68985d", "#9cf98d", "-"),
    "priority_kw_plus": ("#886309", "#d9ad45", "-"),
    "priority_all": ("#90279d", "#ae58b9", "-"),
    "fifo": ("#73777e", "#dbdee4", "-"),
    "random": ("#595b5e", "#b6b6b6", ":"),
    "reversed": ("#3c4048", "#93979f", "--"),
}
# For others; from the third on the dashes tell them from the colours above.
_SPARE_STYLES = (
    ("#1395c9", "#6dc8ff", "-"),
    ("#640179", "#7073f6", "-"),
    ("#c2183c", "#ff7d93", "-."),
    ("#0b7f96", "#5fd4ea", "-."),
    ("#4f6b00", "#b5d44c", "-."),
)

# Colours that stand for CSS variables until the SVG is written: matplotlib knows no variables.
_INK, _RULE, _SERIES = "#fe0001", "#fe0002", "#fd00{:02x}"
_HEIGHT = 300  # of a drawing


def styles(names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Colour and dashes of each function: its own if firstpage knows it, else the next spare ones."""
    spare = 0
    found: dict[str, dict[str, Any]] = {}
    for name in dict.fromkeys(names):
        if name in _STYLES:
            light, dark, dashes = _STYLES[name]
        else:
            light, dark, dashes = _SPARE_STYLES[spare % len(_SPARE_STYLES)]
            spare += 1
        number = len(found)
        found[name] = {"number": number, "light": light, "dark": dark, "dashes": dashes}
    return found


@dataclass(frozen=True, slots=True)
class _Line:
    """One value function in a chart: its share of tasks at each position."""

    name: str
    number: int
    shares: Sequence[Rate]
    dashes: str
    bold: bool
    banded: bool


@dataclass(frozen=True, slots=True)
class _Chart:
    """What a chart shows.

    Args:
        name: unique on the page.
        ticks: where the shares were measured, at least one, ascending; drawn on a logarithmic scale.
        below: what the ticks count.
        lines: at least one.
        ceiling: the share of tasks with a gold file among the candidates.
        floor: where the vertical axis starts.
        width: of the drawing; a phone shows it at about 350.
        digits: decimals of a percentage.
    """

    name: str
    ticks: Sequence[int]
    below: str
    lines: Sequence[_Line]
    ceiling: float
    floor: float
    width: int
    digits: int


def charts(
    summary: Mapping[str, Any],
    ranked: Mapping[str, Sequence[str]],
    recommended: str,
    styles: Mapping[str, Mapping[str, Any]],
) -> list[dict[str, Any]]:
    """Drawings of two kinds, by depth and by page, one a generator, with one scale for each kind.

    Args:
        summary: as `eval.summary.summarise` makes it.
        ranked: the value functions of each generator, from the best to the worst.
        recommended: the function of the headline, drawn bold.
        styles: as `styles` makes them.

    Returns:
        A ``kind``, ``any`` or ``any_on_page``, with its ``panels``: each a ``generator`` and its ``svg``.
    """
    rankings = summary["rankings"]
    ceilings = {row["generator"]: row["any"]["rate"] for row in summary["generators"]}
    groups = []
    for which, below in (("any", "the first k candidates"), ("any_on_page", "tokens of the page")):
        ticks = sorted(map(int, rankings[0][which]))
        shares = {
            (row["generator"], row["function"]): [row[which][str(tick)] for tick in ticks] for row in rankings
        }
        floor = _floor(share["rate"] for of in shares.values() for share in of)
        panels = []
        for generator, functions in ranked.items():
            by_name = {name: shares[generator, name] for name in functions}
            lines = _lines(by_name, recommended, styles)
            chart = _Chart(
                f"{which}-{generator}", ticks, below, lines, ceilings[generator], floor,
                width=460 if len(ranked) < 3 else 360, digits=digits(summary["tasks"]),
            )  # fmt: skip
            panels.append({"generator": generator, "svg": _draw(chart)})
        groups.append({"kind": which, "panels": panels})
    return groups


def _lines(
    shares: Mapping[str, Sequence[Rate]], recommended: str, styles: Mapping[str, Mapping[str, Any]]
) -> list[_Line]:
    """The lines of functions listed from the best to the worst; the best is drawn last, over the others."""
    names = list(shares)
    return [
        _Line(
            name, styles[name]["number"], shares[name], styles[name]["dashes"],
            bold=name in (DEFAULT, recommended), banded=name == names[0],
        )
        for name in reversed(names)
    ]  # fmt: skip


def _floor(rates: Iterable[float]) -> float:
    """Where the axis starts: on a rule, a little below the lowest rate, or at 0 if that is near."""
    floor = math.floor(5 * min(rates) - 0.25) / 5
    return floor if floor > 0.2 else 0.0


def _draw(chart: _Chart) -> "Markup":
    """The chart as inline SVG whose colours follow the page's mode."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context():
        mpl.rcdefaults()  # a person's own settings must not change the page
        mpl.rcParams.update(
            {"svg.fonttype": "none", "svg.hashsalt": chart.name, "font.size": 11, "text.parse_math": False}
        )
        figure = Figure(figsize=(chart.width / 72, _HEIGHT / 72))
        named = max(len(_label(line, chart.digits)) for line in chart.lines)
        left, right, bottom, top = min(24 + 6 * named, 0.5 * chart.width), 44, 44, 18
        place = (
            left / chart.width,
            bottom / _HEIGHT,
            (chart.width - left - right) / chart.width,
            (_HEIGHT - bottom - top) / _HEIGHT,
        )
        axes = figure.add_axes(place)
        x = [math.log(tick) for tick in chart.ticks]
        _frame(axes, chart, x)
        for line in chart.lines:
            _draw_line(axes, line, x)
        _ceiling(axes, chart)
        _draw_labels(axes, chart, _HEIGHT - bottom - top)
        return _inline(figure, chart)


def _frame(axes: "Axes", chart: _Chart, x: Sequence[float]) -> None:
    """Axes without a box: shares to the right, away from the names, and faint rules."""
    pad = 0.0 if len(x) > 1 else 0.5
    axes.set_xlim(x[0] - pad, x[-1] + pad)
    axes.set_ylim(chart.floor, 1)
    axes.set_xticks(x, [f"{tick:,}" for tick in chart.ticks])
    shares = [share / 10 for share in range(round(10 * chart.floor), 11) if not share % 2]
    axes.set_yticks(shares, [f"{share:.0%}".replace("%", " %") for share in shares])
    axes.yaxis.tick_right()
    axes.set_xlabel(chart.below, color=_INK, labelpad=4)
    axes.tick_params(length=0, pad=7, colors=_INK)
    axes.tick_params(axis="x", pad=11)  # clear of the lowest share, at the corner
    axes.grid(axis="y", color=_RULE, linewidth=1)
    axes.set_axisbelow(True)
    axes.patch.set_visible(False)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _draw_line(axes: "Axes", line: _Line, x: Sequence[float]) -> None:
    colour = _SERIES.format(line.number)
    if line.banded and len(x) > 1:
        low, high = zip(*(share["interval"] for share in line.shares), strict=True)
        axes.fill_between(x, low, high, color=colour, alpha=0.16, linewidth=0)
    axes.plot(
        x,
        [share["rate"] for share in line.shares],
        color=colour,
        linestyle=line.dashes,
        linewidth=2.6 if line.bold else 1.5,
        marker="o",
        markersize=4.5 if line.bold else 3,
        markeredgewidth=0,
        clip_on=False,
        gid=f"series-{line.number}",
    )


def _ceiling(axes: "Axes", chart: _Chart) -> None:
    """What the candidates hold at all, which no order of them can exceed."""
    axes.axhline(chart.ceiling, color=_INK, linewidth=1, dashes=(4, 3))
    axes.annotate(
        f"ceiling {percent(chart.ceiling, chart.digits)} %",
        (1, chart.ceiling),
        xycoords=axes.get_yaxis_transform(),
        xytext=(0, 5),
        textcoords="offset points",
        ha="right",
        fontsize=10,
        color=_INK,
        annotation_clip=False,
    )


def _draw_labels(axes: "Axes", chart: _Chart, height: float) -> None:
    """Each name beside the start of its line: there the lines lie apart, at the end they meet."""
    lines = sorted(chart.lines, key=lambda line: [share["rate"] for share in line.shares])
    unit = height / (1 - chart.floor)
    wanted = [(line.shares[0]["rate"] - chart.floor) * unit for line in lines]
    gap = min(14.0, height / max(1, len(lines) - 1))
    x = 0.0 if len(chart.ticks) > 1 else 0.5
    across = axes.get_yaxis_transform()
    for line, start, place in zip(lines, wanted, spread(wanted, gap, 0, height), strict=True):
        colour = _SERIES.format(line.number)
        y = chart.floor + place / unit
        leader = [start / unit + chart.floor, y]
        axes.plot([x, -0.07], leader, color=colour, linewidth=0.9, clip_on=False, transform=across)
        axes.text(
            -0.085, y, _label(line, chart.digits), color=colour, ha="right", va="center_baseline",
            fontweight="bold" if line.bold else "normal", transform=across,
        )  # fmt: skip


def _label(line: _Line, digits: int) -> str:
    return f"{clean(cut(line.name, 22))} {percent(line.shares[0], digits)}"


def spread(wanted: Sequence[float], gap: float, lowest: float, highest: float) -> list[float]:
    """The places nearest to those wanted that keep a distance from each other.

    Least squares under order, by pooling adjacent violators (Ayer and others, 1955, Annals of
    Mathematical Statistics 26, 641-647).

    Args:
        wanted: ascending.
        gap: between neighbours, small enough for all to fit.
        lowest: of the places.
        highest: of the places.

    Example:
        >>> spread([0, 10, 10, 40], gap=4, lowest=0, highest=40)
        [0.0, 8.0, 12.0, 40.0]
    """
    pools: list[list[float]] = []  # members without their offsets; a pool moves as one
    for position, place in enumerate(wanted):
        pools.append([place - position * gap])
        while len(pools) > 1 and _mean(pools[-2]) >= _mean(pools[-1]):
            last = pools.pop()
            pools[-1] += last
    top = highest - (len(wanted) - 1) * gap
    level = [min(max(_mean(pool), lowest), top) for pool in pools for _ in pool]
    return [place + position * gap for position, place in enumerate(level)]


def _mean(numbers: Sequence[float]) -> float:
    return sum(numbers) / len(numbers)


def _inline(figure: "Figure", chart: _Chart) -> "Markup":
    """The figure as SVG for the middle of a page: no header, no names that are not used, CSS colours."""
    from markupsafe import Markup, escape

    buffer = io.StringIO()
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))  # no metadata, or no two runs are alike
    figure.savefig(buffer, format="svg", transparent=True, metadata=nothing)
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :].replace("xlink:href", "href")
    told = f"Share of tasks by {chart.below}"
    start = f'<svg viewBox="0 0 {chart.width} {_HEIGHT}" role="img" aria-label="{told}">'
    svg = re.sub(r"<svg[^>]*>", start, svg, count=1)
    svg = re.sub(r"<!--.*?-->|<defs>\s*<style[^>]*>.*?</style>\s*</defs>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"font: ((?:bold |\d+ )?[\d.]+px) [^;\"]*", _font, svg)
    for line in chart.lines:
        shares = (
            f"{tick:,}: {percent(share, chart.digits)}"
            for tick, share in zip(chart.ticks, line.shares, strict=True)
        )
        title = escape(f"{clean(line.name)}, {' · '.join(shares)}")
        svg = svg.replace(f'<g id="series-{line.number}">', f'<g class="series"><title>{title}</title>')
    used = set(re.findall(r"(?:href=\"|url\()#([\w-]+)", svg))
    svg = re.sub(r' id="([^"]*)"', lambda found: found[0] if found[1] in used else "", svg)
    svg = svg.replace(_INK, "var(--soft)").replace(_RULE, "var(--rule)")
    svg = re.sub(r"#fd00([0-9a-f]{2})", lambda found: f"var(--f{int(found[1], 16)})", svg)
    return Markup(svg)  # noqa: S704 - matplotlib escaped the names, and so did the titles


def _font(found: "re.Match[str]") -> str:
    """Size and weight of a text; the family is the page's."""
    *weight, size = found[1].split(" ")
    return f"font-size: {size}" + (f"; font-weight: {weight[0]}" if weight else "")
