"""The cluster files say what docs/cluster.md promises, in the form that Ray takes."""

import json
from pathlib import Path
from typing import Any

import pytest
import ray

# Both come with Ray.
yaml: Any = pytest.importorskip("yaml")
jsonschema: Any = pytest.importorskip("jsonschema")

FILES = Path(__file__).parents[2] / "configs/cluster"


def test_ray_up_takes_our_file() -> None:
    schema = Path(ray.__file__).parent / "autoscaler/ray-schema.json"
    config = yaml.safe_load((FILES / "ray-up.yaml").read_text())
    jsonschema.validate(config, json.loads(schema.read_text()))
    assert config["max_workers"] == len(config["provider"]["worker_ips"])
    for commands in (config["head_start_ray_commands"], config["worker_start_ray_commands"]):
        assert "RAY_AUTH_MODE=token ray start" in commands[-1]


def test_every_pod_asks_for_the_token_and_the_head_plays_nothing() -> None:
    spec = yaml.safe_load((FILES / "kuberay.yaml").read_text())["spec"]
    [group] = spec["workerGroupSpecs"]
    assert spec["headGroupSpec"]["rayStartParams"]["num-cpus"] == "0"
    assert (group["minReplicas"], group["maxReplicas"]) == (0, 8)
    for part in (spec["headGroupSpec"], group):
        [container] = part["template"]["spec"]["containers"]
        env = {entry["name"]: entry for entry in container["env"]}
        assert env["RAY_AUTH_MODE"]["value"] == "token"
        assert "secretKeyRef" in env["RAY_AUTH_TOKEN"]["valueFrom"]
        assert container["resources"]["requests"] == container["resources"]["limits"]
