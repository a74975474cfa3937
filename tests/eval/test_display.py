import pytest
from firstpage.eval.display import percent, with_interval


@pytest.mark.parametrize(
    ("rate", "low", "high", "shown"),
    [
        (0.242, 0.2066, 0.2814, "24.2 (20.7–28.1)"),
        (0.0, 0.0, 0.0076, "0.0 (0.0–0.8)"),
        (1.0, 0.99, 1.0, "100.0 (99.0–100.0)"),
    ],
)
def test_percent_shows_one_decimal(rate, low, high, shown):
    share = {"rate": rate, "interval": [low, high]}
    assert with_interval(share) == shown
    assert percent(share) == percent(rate) == shown.split(" ")[0]


def test_percent_takes_fewer_digits():
    share = {"rate": 0.242, "interval": [0.2066, 0.2814]}
    assert with_interval(share, digits=0) == "24 (21–28)"
