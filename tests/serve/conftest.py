"""Real services on this machine, started as a person starts them."""

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
        self.url = self._wait(lambda: next(iter(re.findall(r"http://\S+?(?=;)", self.log)), ""))

    @property
    def log(self) -> str:
        """What it wrote until now."""
        return "".join(self.lines)

    def get(self, path: str, **given: Any) -> httpx.Response:
        return self._client.get(self.url + path, **given)

    def post(self, path: str, body: Any, **given: Any) -> httpx.Response:
        return self._client.post(self.url + path, json=body, **given)

    def ready(self) -> "Server":
        """Itself, once it is ready."""

        def is_ready() -> bool:
            with suppress(httpx.HTTPError):
                return self.get("/ready").status_code == 200
            return False

        self._wait(is_ready)
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

    def _wait(self, condition: Callable[[], Any]) -> Any:
        until = time.monotonic() + STARTS_WITHIN
        while not (found := condition()):
            if self.process.poll() is not None or time.monotonic() > until:
                self.process.kill()
                raise AssertionError(f"the service does not start: {self.log}")
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

    def make(environment: dict[str, str] | None = None, **keys: Any) -> Server:
        config = tmp_path_factory.mktemp("serve") / "serve.yaml"
        config.write_text(yaml.safe_dump({"port": 0, "notice_s": 0} | keys))
        started.append(Server(["--config", str(config)], environment))
        return started[-1].ready()

    yield make
    for server in started:
        if server.process.poll() is None:
            server.process.kill()


@pytest.fixture(scope="session")
def server(start: Callable[..., Server]) -> Server:
    """One with what comes with the package."""
    return start()


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
