"""What operators are given: configurations, the dashboard, the unit and the container."""

import configparser
import json
import re
from pathlib import Path

import pytest
from firstpage.core.settings import read_settings
from firstpage.serve.config import ServeConfig
from firstpage.serve.metrics import Metrics

ROOT = Path(__file__).parents[2]
OPS = ROOT / "ops"


def test_the_configuration_for_a_processor_is_every_default():
    read = read_settings(ROOT / "configs" / "serve-cpu.yaml", ServeConfig, "serve")
    assert read == ServeConfig(ranker="fused", value_function="fused")
    text = (ROOT / "configs" / "serve-cpu.yaml").read_text()
    assert re.findall(r"^(\w+):", text, re.M) == list(ServeConfig.__dataclass_fields__)


def test_the_configuration_for_a_card_can_be_read():
    read = read_settings(ROOT / "configs" / "serve-gpu-24gb.yaml", ServeConfig, "serve")
    assert read.ranker.startswith("cross-encoder@")
    assert read.batch_tokens >= read.max_length


def test_the_dashboard_shows_measures_that_are_there():
    dashboard = json.loads((OPS / "grafana.json").read_text())
    metrics = Metrics()
    metrics.rejections.labels("key").inc()
    metrics.queue_size.labels("m").set(1)
    metrics.count("/rerank", 200, 0.1)
    metrics.count("/rerank", 422, 0.1)
    there = set(re.findall(r"^((?:te|firstpage)_\w+)", metrics.text().decode(), re.M))
    asked = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    named = set(re.findall(r"\b(?:te|firstpage)_\w+", " ".join(asked)))
    assert named <= there
    bases = {re.sub(r"_(?:bucket|sum|created)$|(?<!request)_count$", "", name) for name in there}
    assert {re.sub(r"_bucket$", "", name) for name in named} == bases - {"te_request_success"}


def test_the_unit_gives_the_service_time_to_end():
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str
    unit.read(OPS / "firstpage.service")
    service = unit["Service"]
    defaults = ServeConfig()
    assert int(service["TimeoutStopSec"]) > defaults.notice_s + defaults.drain_s
    assert service["ExecStart"].split()[1] == "serve"
    assert service["DynamicUser"] == service["NoNewPrivileges"] == "yes"


def test_the_container_runs_as_nobody_in_particular_and_asks_whether_it_is_ready():
    text = (OPS / "Containerfile").read_text()
    assert re.search(r"^USER firstpage$", text, re.M)
    assert "/ready" in text
    assert json.loads(re.findall(r"^CMD (.*)$", text, re.M)[0])[:2] == ["firstpage", "serve"]


@pytest.mark.parametrize("file", ["serve-cpu.yaml", "serve-gpu-24gb.yaml"])
def test_a_recipe_tells_how_it_is_used(file):
    assert f"firstpage serve --config configs/{file}" in (ROOT / "configs" / file).read_text()
