from fractions import Fraction
from math import factorial

import numpy as np
import pytest
from firstpage.eval.statistics import mcnemar, paired_bootstrap, wilson
from hypothesis import given
from hypothesis import strategies as st


class TestWilson:
    @pytest.mark.parametrize(
        ("hits", "total", "low", "high"),
        [  # Newcombe (1998), Statistics in Medicine 17, 857-872, table I, method 3
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0000, 0.1611),
            (1, 29, 0.0061, 0.1718),
        ],
    )
    def test_published_intervals(self, hits: int, total: int, low: float, high: float) -> None:
        assert wilson(hits, total) == pytest.approx((low, high), abs=5e-5)

    @given(st.integers(1, 2000), st.data())
    def test_holds_the_share_and_mirrors(self, total: int, data: st.DataObject) -> None:
        hits = data.draw(st.integers(0, total))
        low, high = wilson(hits, total)
        assert 0 <= low <= hits / total <= high <= 1
        assert wilson(total - hits, total) == pytest.approx((1 - high, 1 - low))

    def test_narrows_with_less_confidence(self) -> None:
        wide, narrow = wilson(30, 100, 0.99), wilson(30, 100, 0.90)
        assert wide[0] < narrow[0] < narrow[1] < wide[1]

    @pytest.mark.parametrize(("hits", "total"), [(0, 0), (3, 2), (-1, 2)])
    def test_what_is_no_share(self, hits: int, total: int) -> None:
        with pytest.raises(ValueError, match=f"{hits} of {total} is no share"):
            wilson(hits, total)


def exact_tail(b: int, c: int) -> Fraction:
    """The two-sided binomial probability in fractions, from factorials."""
    n = b + c
    ways = [Fraction(factorial(n), factorial(k) * factorial(n - k)) for k in range(min(b, c) + 1)]
    return min(Fraction(1), 2 * sum(ways, Fraction(0)) / 2**n)


class TestMcNemar:
    @pytest.mark.parametrize(
        ("b", "c", "p"),
        [  # twice the one-sided table of the binomial test, Siegel, Nonparametric Statistics, 1956, table D
            (0, 5, 2 * 0.031),
            (1, 9, 2 * 0.011),
            (5, 15, 2 * 0.021),
            (7, 18, 2 * 0.022),
        ],
    )
    def test_published_tables(self, b: int, c: int, p: float) -> None:
        assert mcnemar(b, c) == pytest.approx(p, abs=2 * 5e-4)

    @given(st.integers(0, 250), st.integers(0, 250))
    def test_is_exact_up_to_five_hundred(self, b: int, c: int) -> None:
        assert mcnemar(b, c) == pytest.approx(float(exact_tail(b, c)), rel=1e-12)
        assert mcnemar(b, c) == mcnemar(c, b)

    def test_the_whole_of_five_hundred_on_one_side(self) -> None:
        assert mcnemar(500, 0) == 2.0**-499

    def test_methods_that_do_not_differ(self) -> None:
        assert mcnemar(0, 0) == mcnemar(1, 0) == mcnemar(10, 10) == 1

    def test_negative_counts(self) -> None:
        with pytest.raises(ValueError, match="no counts"):
            mcnemar(-1, 2)


class TestPairedBootstrap:
    def test_agrees_with_the_normal_approximation_on_many_tasks(self) -> None:
        random = np.random.default_rng(0)
        first, second = random.random(2000) < 0.4, random.random(2000) < 0.3
        difference = first.astype(float) - second
        half = 1.96 * difference.std() / np.sqrt(difference.size)
        expected = (difference.mean() - half, difference.mean() + half)
        assert paired_bootstrap(first, second) == pytest.approx(expected, abs=0.1 * half)

    def test_one_cluster_a_task_is_by_task(self) -> None:
        random = np.random.default_rng(1)
        first, second = random.random(50), random.random(50)
        assert paired_bootstrap(first, second, np.arange(50)) == paired_bootstrap(first, second)

    def test_tasks_that_rise_and_fall_together_widen_the_interval(self) -> None:
        first = np.repeat([1.0, 0.0, 1.0, 0.0, 1.0], 40)
        second = np.zeros(200)
        low, high = paired_bootstrap(first, second)
        wide_low, wide_high = paired_bootstrap(first, second, np.repeat(list("abcde"), 40))
        assert wide_low < low < high < wide_high

    def test_clusters_count_by_their_tasks(self) -> None:
        """Two clusters of 1 and 3 tasks: a draw gives the first twice, the second twice, or both."""
        low, high = paired_bootstrap([1, 0, 0, 0], [0, 0, 0, 0], ["a", "b", "b", "b"], confidence=0.2)
        assert (low, high) == (0.25, 0.25)
        assert paired_bootstrap([1, 0, 0, 0], [0, 0, 0, 0], ["a", "b", "b", "b"]) == (0, 1)

    def test_is_drawn_from_a_fixed_seed(self) -> None:
        random = np.random.default_rng(2)
        first, second = random.random(30), random.random(30)
        assert paired_bootstrap(first, second) == paired_bootstrap(first, second)
        assert paired_bootstrap(first, second) != paired_bootstrap(first, second, seed=3)

    def test_more_tasks_than_are_drawn_at_a_time(self) -> None:
        assert paired_bootstrap(np.ones(300_000), np.zeros(300_000), resamples=20) == (1, 1)

    @pytest.mark.parametrize(
        ("first", "second", "clusters"), [([], [], None), ([1], [1, 2], None), ([1, 2], [1, 2], ["a"])]
    )
    def test_wrong_shapes(self, first: list[int], second: list[int], clusters: list[str] | None) -> None:
        with pytest.raises(ValueError, match="shape"):
            paired_bootstrap(first, second, clusters)
