"""What docs/device.md shows works: a backend in Python, a device in JavaScript."""

import json
import pathlib
from typing import Any

import pytest
from npm_kit import ROOT, run

from code_blocks import blocks
from discreet import Client
from running_service import RunningService

STORAGE = "globalThis.localStorage = { getItem: () => null, setItem: () => undefined };"


def test_a_message_from_a_backend_is_told(
    node: str,
    package: pathlib.Path,
    service: RunningService,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The blocks of the page, one after the other; the message travels as JSON."""
    backend, device = blocks(ROOT / "docs" / "device.md")
    monkeypatch.setenv("DISCREET_URL", service.url)
    monkeypatch.setenv("DISCREET_CLIENT_KEY", service.key)
    with Client(service.url, service.key) as admin:
        admin.create_learner("door", "bandit", ["tea", 7], epsilon=1.0, cost_range=(0, 1), mode="local")
    names: dict[str, Any] = {}
    exec(backend.text, names)
    names["backend"].close()
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "discreet-device").symlink_to(package)
    page = device.text.replace("https://learn.shop.example", service.url)
    call = f"await left({json.dumps(names['message'])}, 12);\n"
    (tmp_path / "page.mjs").write_text(STORAGE + page + call)
    run(node, tmp_path / "page.mjs")
    with Client(service.url, service.key) as admin:
        assert admin.learner("door").counts.told == 1
