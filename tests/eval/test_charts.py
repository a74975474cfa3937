import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("markupsafe")
pytest.importorskip("matplotlib")

from firstpage.eval.charts import charts, spread, styles
from firstpage.readers import value_functions


def share(rate: float) -> dict[str, Any]:
    return {"rate": rate, "interval": [max(0.0, rate - 0.1), min(1.0, rate + 0.1)]}


def drawn(
    rates: Mapping[str, Sequence[float]], generators: Mapping[str, float] = MappingProxyType({"union": 0.0})
) -> list[str]:
    """All charts of functions with these rates among the first 1, 5 and 10 and on pages of three sizes.

    The rates are shifted for each generator.
    """
    summary = {
        "tasks": 50,
        "generators": [{"generator": generator, "any": share(0.95)} for generator in generators],
        "rankings": [
            {
                "generator": generator,
                "function": name,
                "any": dict(zip(("1", "5", "10"), [share(rate + shift) for rate in of], strict=True)),
                "any_on_page": dict(
                    zip(("1000", "2000", "4000"), [share(rate + shift) for rate in of], strict=True)
                ),
            }
            for generator, shift in generators.items()
            for name, of in rates.items()
        ],
    }
    ranked = {generator: list(rates) for generator in generators}
    groups = charts(summary, ranked, next(iter(rates)), styles(list(rates)))
    assert [group["kind"] for group in groups] == ["any", "any_on_page"]
    assert all([panel["generator"] for panel in group["panels"]] == list(generators) for group in groups)
    return [panel["svg"] for group in groups for panel in group["panels"]]


def test_labels_keep_apart_where_all_lines_meet() -> None:
    names = [*value_functions.names(), "mine", "yours"]
    for svg in drawn(dict.fromkeys(names, (0.2, 0.6, 0.8))):
        labels = re.findall(r'text-anchor: end[^>]*? y="([\d.]+)"[^>]*>([\w-]+) 20</text>', svg)
        assert {name for _, name in labels} == set(names)
        assert min(np.diff(sorted(float(y) for y, _ in labels))) >= 13


@pytest.mark.parametrize(("lowest", "first_rule"), [(0.66, 60), (0.63, 40), (0.3, 0), (0.0, 0), (1.0, 80)])
def test_axis_starts_on_a_rule_clearly_below_the_lowest(lowest: float, first_rule: int) -> None:
    for svg in drawn({"hybrid": (lowest, 1, 1), "fifo": (lowest, 0.8, 0.9) if lowest < 0.8 else (1, 1, 1)}):
        rules = [int(rule) for rule in re.findall(r">(\d+) %<", svg)]
        assert rules == list(range(first_rule, 101, 20))


def test_panels_of_a_kind_share_one_scale() -> None:
    grep, union, *_ = drawn({"hybrid": (0.7, 0.8, 0.9)}, {"grep": 0.0, "union": -0.4})
    for svg in (grep, union):
        assert re.findall(r">(\d+ %)<", svg) == ["0 %", "20 %", "40 %", "60 %", "80 %", "100 %"]


def test_colours_are_variables_and_titles_tell_all_shares() -> None:
    for svg, ticks in zip(drawn({"hybrid": (0.5, 0.7, 0.9)}), ((1, 5, 10), (1000, 2000, 4000)), strict=True):
        shares = " · ".join(f"{tick:,}: {rate}" for tick, rate in zip(ticks, (50, 70, 90), strict=True))
        assert f"<title>hybrid, {shares}</title>" in svg
        assert "var(--f0)" in svg
        assert not re.search("#f[de]0", svg)


def test_a_function_keeps_its_colour_whoever_else_is_there() -> None:
    known, mixed = styles(["bm25", "hybrid"]), styles(["mine", "hybrid", "yours", "bm25", "mine"])
    for name in known:
        assert {**known[name], "number": mixed[name]["number"]} == mixed[name]
    assert len({(style["light"], style["dashes"]) for style in mixed.values()}) == 4
    assert [style["number"] for style in mixed.values()] == [0, 1, 2, 3]


@given(st.lists(st.floats(0, 100), min_size=1, max_size=12).map(sorted), st.floats(0.1, 8))
def test_spread_keeps_order_distance_and_range(wanted: list[float], gap: float) -> None:
    places = spread(wanted, gap, 0, 100)
    assert len(places) == len(wanted)
    assert all(after - before >= gap - 1e-9 for before, after in pairwise(places))
    assert places[0] >= -1e-9
    assert places[-1] <= 100 + 1e-9


@given(st.lists(st.integers(0, 10), min_size=1, max_size=10, unique=True).map(sorted))
def test_spread_leaves_what_has_room(wanted: list[int]) -> None:
    assert spread(wanted, 1, 0, 10) == pytest.approx(wanted)
