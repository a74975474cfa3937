"""How long the command takes to start; to be at most 150 ms."""

import subprocess
import sys
from pathlib import Path

import pytest

FIRSTPAGE = Path(sys.executable).parent / "firstpage"


def run(*arguments: str) -> None:
    subprocess.run([FIRSTPAGE, *arguments], input=b"src/cache.py\n", capture_output=True, check=True)


@pytest.mark.benchmark(group="cold start")
@pytest.mark.parametrize("arguments", [("--help",), ("select", "-q", "cache")], ids=["help", "select"])
def test_start(benchmark, arguments):
    benchmark.pedantic(run, arguments, rounds=10, warmup_rounds=1)
