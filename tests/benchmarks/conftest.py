"""Benchmarks are written down without anything that names the machine they ran on."""

from firstpage.eval.provenance import machine


def pytest_benchmark_update_machine_info(config, machine_info):
    machine_info.clear()
    machine_info.update(machine())


def pytest_benchmark_update_json(config, benchmarks, output_json):
    output_json["commit_info"] = {"id": output_json["commit_info"].get("id")}
    for row in output_json["benchmarks"]:
        row["stats"] = {name: row["stats"][name] for name in ("min", "median", "mean", "max", "rounds")}
        row.pop("options", None)
