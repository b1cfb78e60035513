"""The on-device kit as npm would publish it, devices that run it, and a service that allows their website."""

from __future__ import annotations

import functools
import http.server
import json
import os
import pathlib
import shutil
import tarfile
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from npm_kit import KIT, ROOT, run

from running_service import RunningService

HERE = pathlib.Path(__file__).parent

_PAGE = """<!doctype html><title>A shop</title><script type="module">
import * as kit from "/kit/index.js";
import * as steps from "/steps.mjs";
window.run = ([step, settings]) => steps[step](kit, settings);
</script>"""


@pytest.fixture(scope="session")
def node() -> str:
    found = shutil.which("node")
    if found is None or shutil.which("npm") is None:
        if os.environ.get("DISCREET_REQUIRE_NODE") == "1":
            pytest.fail("Node.js is required here, but node or npm is not installed.")
        pytest.skip("Neither node nor npm is installed.")
    return found


@pytest.fixture(scope="session")
def package(node: str, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The unpacked archive that `npm pack` makes; beside it, what it was made with."""
    folder = tmp_path_factory.mktemp("npm")
    built = folder / "clients" / "typescript"
    ignored = shutil.ignore_patterns("node_modules", "dist")
    shutil.copytree(KIT, built, ignore=ignored)
    shutil.copy(ROOT / "LICENSE", folder)
    run("npm", "ci", "--prefer-offline", "--ignore-scripts", folder=built)
    run("npm", "pack", "--pack-destination", folder, folder=built)
    (archive,) = folder.glob("*.tgz")
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    return folder / "package"


@pytest.fixture(scope="session")
def website(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, pathlib.Path]]:
    """Where pages of a shop are, and the folder that they come from: another origin than the service."""
    folder = tmp_path_factory.mktemp("website")
    (folder / "index.html").write_text(_PAGE)
    shutil.copy(HERE / "steps.mjs", folder)
    handler = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", folder
        server.shutdown()
        thread.join()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    extensions_map = http.server.SimpleHTTPRequestHandler.extensions_map | {".mjs": "text/javascript"}

    def log_message(self, *_: object) -> None:
        """Tests read no log."""


@pytest.fixture(scope="session")
def service(
    website: tuple[str, pathlib.Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningService]:
    """A service that allows the shop's pages to call it."""
    folder = tmp_path_factory.mktemp("service")
    options = ["--store", str(folder / "shop.db"), "--cors-origin", website[0]]
    with RunningService(folder, options=options) as running:
        yield running


#: Runs a step of `steps.mjs` with settings.
Device = Callable[..., Any]


@pytest.fixture
def on_node(node: str, package: pathlib.Path) -> Device:
    def device(step: str, **settings: Any) -> Any:
        return json.loads(run(node, HERE / "run.mjs", package / "dist", step, json.dumps(settings)))

    return device


@pytest.fixture
def in_browser(browser: Any, package: pathlib.Path, website: tuple[str, pathlib.Path]) -> Iterator[Device]:
    address, folder = website
    if not (folder / "kit").exists():
        shutil.copytree(package / "dist", folder / "kit")
    context = browser.new_context()
    page = context.new_page()
    page.goto(address)
    yield lambda step, **settings: page.evaluate("window.run", [step, settings])
    context.close()
