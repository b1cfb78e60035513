"""The files of deploy/ are valid, agree with each other, and name only what exists.

hadolint and the schema of Compose come from the package index with the development tools; where they are not
installed, their tests are skipped.
"""

import inspect
import itertools
import json
import pathlib
import re
import shutil
import subprocess
import sys
from typing import Any

import pytest
import yaml

from discreet.cli.tools import serve as serve_command
from discreet.service.app import MAX_BODY
from discreet.service.options import ADMIN_KEY
from discreet.service.server import _GRACE
from discreet.service.web.metrics import Metrics

DEPLOY = pathlib.Path(__file__).parents[2] / "deploy"
#: What else the environment may say.
OTHERS = {ADMIN_KEY, "DISCREET_KEY", "DISCREET_ROLLBACK_GUARD"}


def tool(name: str) -> str:
    """Where a tool is installed."""
    found = shutil.which(name, path=str(pathlib.Path(sys.executable).parent)) or shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def run(*command: str | pathlib.Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def compose() -> Any:
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text())


def known() -> set[str]:
    """The variables that the command line and the service read."""
    options = inspect.signature(serve_command, eval_str=True).parameters.values()
    found = {getattr(part, "envvar", None) for each in options for part in each.annotation.__metadata__}
    return {name for name in found if name} | OTHERS


def test_variables_exist() -> None:
    """Each that a file of deploy/ sets is one that somebody reads, and all options can be set."""
    assert len(known()) == len(inspect.signature(serve_command).parameters) - 1 + len(
        OTHERS
    )  # but for --json
    files = [path for path in DEPLOY.rglob("*") if path.is_file()]
    named = {name for path in files for name in re.findall(r"DISCREET_[A-Z_]+", path.read_text())}
    assert named <= known()
    assert {"DISCREET_STORE", "DISCREET_KEY", ADMIN_KEY, "DISCREET_ROLLBACK_GUARD"} <= named


def test_the_dashboard_shows_what_is_measured() -> None:
    """Every metric in it exists, every metric of the service is in it, and panels do not overlap."""
    dashboard = json.loads((DEPLOY / "grafana.json").read_text())
    asked = json.dumps(dashboard["panels"])
    shown = set(re.findall(r"discreet_\w+", asked))
    metrics = Metrics()
    metrics.started()
    metrics.ended("GET", "/livez", 200, 0.1)
    metrics.asked("till", 1)
    metrics.told("till", "accepted")
    page = metrics.page().decode()
    samples = {
        name for name in re.findall(r"^(discreet_\w+)", page, re.MULTILINE) if not name.endswith("_created")
    }
    assert shown <= samples
    base = {re.sub(r"_(bucket|count|sum|total)$", "", name) for name in samples}
    assert {re.sub(r"_(bucket|total)$", "", name) for name in shown} == base
    places = [panel["gridPos"] for panel in dashboard["panels"]]
    for one, two in itertools.combinations(places, 2):
        beside = one["x"] + one["w"] <= two["x"] or two["x"] + two["w"] <= one["x"]
        assert beside or one["y"] + one["h"] <= two["y"] or two["y"] + two["h"] <= one["y"]
    assert len({panel["id"] for panel in dashboard["panels"]}) == len(places)


def test_the_image_is_as_the_files_say() -> None:
    """Its copied files exist, nobody runs it as root, and both stages read the same compiled code."""
    lines = (DEPLOY / "Dockerfile").read_text().replace("\\\n", " ").splitlines()
    steps = [line.split(maxsplit=1) for line in lines if line and not line.startswith("#")]
    copied = [words.split() for step, words in steps if step == "COPY" and "--from" not in words]
    root = DEPLOY.parent
    assert all((root / name).exists() for words in copied for name in words[:-1])
    kept = set(re.findall(r"^!(\S+)", (DEPLOY / "Dockerfile.dockerignore").read_text(), re.MULTILINE))
    assert {name for words in copied for name in words[:-1]} == kept
    numba = [sorted(re.findall(r"NUMBA_\w+=\S+", words)) for step, words in steps if step == "ENV"]
    assert numba[0] == numba[1]
    last = dict(steps)
    assert last["USER"] == "10001"
    assert "/readyz" in last["HEALTHCHECK"]
    assert str(inspect.signature(serve_command).parameters["port"].default) == last["EXPOSE"]
    run(tool("hadolint"), DEPLOY / "Dockerfile")


def test_compose_runs_what_is_shipped() -> None:
    """nginx with the file that is tested, in the network of a service that nobody else reaches."""
    services = compose()["services"]
    for volume in services["nginx"]["volumes"][:1]:
        assert (DEPLOY / volume.partition(":")[0]).is_file()
    assert services["nginx"]["network_mode"] == "service:discreet"
    served = services["discreet"]
    assert served["ports"] == ["443:443"]
    assert "DISCREET_HOST" not in served["environment"]
    assert served["environment"]["DISCREET_BEHIND_PROXY"] == "true"
    assert served["build"]["dockerfile"] == "deploy/Dockerfile"
    assert int(served["stop_grace_period"].rstrip("s")) > _GRACE
    secrets = {"DISCREET_KEY", ADMIN_KEY, "PGPASSWORD"}
    assert all(served["environment"][name].startswith("${") for name in secrets)
    run(tool("check-jsonschema"), "--builtin-schema", "vendor.compose-spec", DEPLOY / "compose.yaml")


def test_nginx_fits_the_service() -> None:
    """It takes no less than the service, and waits less long for a connection than the service keeps it."""
    text = re.sub(r"#.*", "", (DEPLOY / "nginx.conf").read_text())
    said = {words[0]: words[1:] for words in map(str.split, re.findall(r"([^;{}]+);", text))}
    assert said["client_max_body_size"] == said["client_body_buffer_size"] == [f"{MAX_BODY >> 20}m"]
    defaults = inspect.signature(serve_command).parameters
    assert said["server"] == [f"{defaults['host'].default}:{defaults['port'].default}"]
    assert float(said["keepalive_timeout"][0].rstrip("s")) < 5.0  # uvicorn's
