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
    assert "~/.ray/auth_token" in config["file_mounts"]


def test_the_operator_gives_the_token_to_every_pod_and_the_head_plays_nothing() -> None:
    spec = yaml.safe_load((FILES / "kuberay.yaml").read_text())["spec"]
    [group] = spec["workerGroupSpecs"]
    assert spec["headGroupSpec"]["rayStartParams"]["num-cpus"] == "0"
    assert (group["minReplicas"], group["maxReplicas"]) == (0, 8)
    assert spec["authOptions"] == {"mode": "token"}
    assert spec["rayVersion"] == ray.__version__, "the operator refuses a token without it"
    for part in (spec["headGroupSpec"], group):
        [container] = part["template"]["spec"]["containers"]
        assert container["resources"]["requests"] == container["resources"]["limits"]
