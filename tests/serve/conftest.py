"""Real services on this machine, started as a person starts them."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
import torch
import yaml
from sentence_transformers import CrossEncoder

FIRSTPAGE = Path(sys.executable).with_name("firstpage")
STARTS_WITHIN = 60  # seconds

# A value function of another package. The query "until FILE" waits for that file, and the first call of all
# for the one that GATE names; so a test has requests under way for exactly as long as it needs.
WAITING = """
import os, time
import numpy as np

class Waiting:
    name = "waiting"

    def values(self, query, items):
        word, _, file = query.text.partition(" ")
        file = os.environ.get("GATE", "") if query.text == "warm" else file if word == "until" else ""
        while file and not os.path.exists(file):
            time.sleep(0.01)
        if word == "fault":
            raise ZeroDivisionError("a fault")
        return np.array([np.nan if item.text == "nan" else len(item.text) for item in items], dtype=float)
"""


class Server:
    """A running service.

    Attributes:
        url: where it listens.
        lines: of its standard error until now.
    """

    def __init__(self, arguments: list[str], environment: dict[str, str] | None = None) -> None:
        self.lines: list[str] = []
        self.process = subprocess.Popen(
            [FIRSTPAGE, "serve", *arguments], stderr=subprocess.PIPE, text=True, env=environment
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._client = httpx.Client(timeout=60, limits=httpx.Limits(max_connections=100))
        self.url = self.wait(lambda: next(iter(re.findall(r"http://\S+?(?=;)", self.log)), ""))

    @property
    def log(self) -> str:
        """What it wrote until now."""
        return "".join(self.lines)

    def get(self, path: str, **given: Any) -> httpx.Response:
        return self._client.get(self.url + path, **given)

    def post(self, path: str, body: Any, **given: Any) -> httpx.Response:
        return self._client.post(self.url + path, json=body, **given)

    def resident(self) -> float:
        """Its memory in MiB."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))

    def ready(self) -> "Server":
        """Itself, once it is ready."""

        def is_ready() -> bool:
            with suppress(httpx.HTTPError):
                return self.get("/ready").status_code == 200
            return False

        self.wait(is_ready)
        return self

    def measure(self, name: str) -> float:
        """A line of ``/metrics``."""
        return float(re.findall(rf"^{re.escape(name)} (\S+)$", self.get("/metrics").text, re.M)[0])

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Ends it; its exit status."""
        self.process.send_signal(number)
        try:
            return self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise

    def wait(self, condition: Callable[[], Any]) -> Any:
        """What a condition gives, once it gives something."""
        until = time.monotonic() + STARTS_WITHIN
        while not (found := condition()):
            if self.process.poll() is not None or time.monotonic() > until:
                self.process.kill()
                raise AssertionError(f"what is waited for does not come: {self.log}")
            time.sleep(0.05)
        return found

    def _read(self) -> None:
        assert self.process.stderr
        for line in self.process.stderr:
            self.lines.append(line)


@pytest.fixture(scope="session")
def start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Server]]:
    """Starts a service with keys of its configuration."""
    started: list[Server] = []

    def make(environment: dict[str, str] | None = None, warm: bool = True, **keys: Any) -> Server:
        config = tmp_path_factory.mktemp("serve") / "serve.yaml"
        config.write_text(yaml.safe_dump({"port": 0, "notice_s": 0} | keys))
        started.append(Server(["--config", str(config)], environment))
        return started[-1].ready() if warm else started[-1]

    yield make
    running = [server for server in started if server.process.poll() is None]
    for server in running:
        server.process.terminate()
    try:
        assert [server.process.wait(60) for server in running] == [0] * len(running)
        assert not [server.log for server in started if "Traceback" in server.log]
    finally:
        for server in running:
            server.process.kill()


@pytest.fixture(scope="session")
def server(start: Callable[..., Server]) -> Server:
    """One with what comes with the package."""
    return start()


@pytest.fixture(scope="session")
def start_waiting(
    start: Callable[..., Server], tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., Server]:
    """Starts a service with the value function of another package that waits where it is told to."""
    folder = tmp_path_factory.mktemp("package")
    info = folder / "waiting_values-1.dist-info"
    info.mkdir()
    (folder / "waiting_values.py").write_text(WAITING)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: waiting-values\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[firstpage.value_functions]\nwaiting = waiting_values:Waiting\n")

    def make(warm: bool = True, gate: Path | None = None, **keys: Any) -> Server:
        environment = os.environ | {"PYTHONPATH": str(folder), "GATE": str(gate or "")}
        return start(environment, warm, ranker="waiting", value_function="fifo", **keys)

    return make


@pytest.fixture(scope="session")
def cross_folder(make_bert: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cross-encoder whose weights nobody trained."""
    torch.manual_seed(1)
    made = tmp_path_factory.mktemp("cross") / "model"
    CrossEncoder(str(make_bert()), num_labels=1).save_pretrained(str(made))
    return made


@pytest.fixture(scope="session")
def cross(start: Callable[..., Server], cross_folder: Path) -> Server:
    """One with that cross-encoder."""
    return start(ranker=f"cross-encoder@{cross_folder}", precision="fp32", max_length=64)
