"""Settings shared by all tests."""

import datetime
import ipaddress
import os
import pathlib
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from hypothesis import settings

from benchmarks import chromium
from postgres_server import Server, running
from running_service import free_port

# No deadline: the first call of a kernel compiles it. Derandomised: a red run can be repeated as it was;
# `pytest --hypothesis-profile=search` looks for new examples.
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.register_profile("search", deadline=None, max_examples=1000)
settings.load_profile("repeatable")

# What was started in the background of a script ignores Ctrl-C, and tests send it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# These hold fixtures; as modules with doctests they would be taken for one another.
collect_ignore_glob = ["conftest.py", "*/conftest.py"]


def missing(reason: str) -> None:
    if os.environ.get("DISCREET_REQUIRE_CHROMIUM") == "1":
        pytest.fail(f"Chromium is required here, but {reason}.")
    pytest.skip(f"No Chromium can be had: {reason}.")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One browser for a module: while it runs, no other event loop can."""
    found = chromium.program()
    if found is None:
        missing("neither chromium nor google-chrome is installed")
    try:
        from playwright.sync_api import expect, sync_playwright
    except ModuleNotFoundError:
        missing("playwright is not installed")
    expect.set_options(timeout=15_000)  # an update comes every two seconds, and machines are shared
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=found, args=list(chromium.FLAGS))
        yield running
        running.close()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    """One PostgreSQL server for the whole run."""
    with running() as server:
        yield server


@pytest.fixture
def postgres(postgres_server: Server) -> str:
    """The address of an empty PostgreSQL database."""
    return postgres_server.new_database()


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[pathlib.Path, pathlib.Path]:
    """A certificate of 127.0.0.1 that signs itself, and its key."""
    folder = tmp_path_factory.mktemp("tls")
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    day = datetime.timedelta(days=1)
    alternative = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    made = x509.CertificateBuilder(
        name, name, key.public_key(), x509.random_serial_number(), now - day, now + day
    )
    signed = made.add_extension(alternative, critical=False).sign(key, hashes.SHA256())
    form = (serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "cert.pem").write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    (folder / "key.pem").write_bytes(key.private_bytes(serialization.Encoding.PEM, *form))
    return folder / "cert.pem", folder / "key.pem"


@pytest.fixture
def dask_cluster(tmp_path: pathlib.Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """A scheduler and two worker processes on loopback."""
    port = free_port()
    address = f"127.0.0.1:{port}"
    log = (tmp_path / "dask.log").open("wb")
    dask = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    worker = [sys.executable, "-m", "distributed.cli.dask_worker"]
    options = ["--no-dashboard", "--nthreads", "1", "--local-directory", str(tmp_path)]
    processes = [
        subprocess.Popen(
            [*dask, "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"], stdout=log, stderr=log
        )
    ]
    processes += [
        subprocess.Popen([*worker, f"tcp://{address}", *options, "--no-nanny"], stdout=log, stderr=log)
        for _ in range(2)
    ]
    try:
        yield address, processes[1:]
    finally:
        for process in processes:
            process.kill()
            process.wait()
        log.close()


#: The kind of all tests in a folder, of those in a file besides, and of all tests with a fixture.
KIND_OF_FOLDER = {
    "auditing": "seconds",
    "baselines": "seconds",
    "client": "process",
    "clients": "process",
    "dashboard": "browser",
    "docs": "docs",
    "evaluation": "seconds",
    "examples": "docs",
    "paper": "seconds",
    "report": "seconds",
    "service": "seconds",
    "simulation": "seconds",
}
KIND_OF_FILE = {
    "test_changing_items.py": "seconds",
    "test_choosing_learner.py": "seconds",
    "test_client_wheel.py": "slow",
    "test_custom.py": "seconds",
    "test_dashboard_accessibility.py": "slow",
    "test_errata.py": "slow",
    "test_exact_release.py": "seconds",
    "test_extras.py": "seconds",
    "test_gallery.py": "slow",
    "test_holdout.py": "seconds",
    "test_item_feedback.py": "seconds",
    "test_model_segments.py": "seconds",
    "test_own_parts.py": "slow",
    "test_probabilities.py": "seconds",
    "test_site.py": "slow",
    "test_soak.py": "slow",
    "test_opendp.py": "slow",
    "test_theorems.py": "slow",
    "test_tutorial.py": "slow",
    "test_wheel.py": "slow",
}
#: Slow tests that continuous integration runs as well: in these files, and of pages with these names.
SAMPLED = ("test_wheel.py", "test_client_wheel.py", "test_dashboard_accessibility.py", "test_own_parts.py")
SAMPLED_PAGES = ("README.md", "docs/quickstart.md")
KIND_OF_FIXTURE = {"browser": "browser", "dask_cluster": "process", "postgres": "postgres"}


@pytest.hookimpl(tryfirst=True)
def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark tests by their folder, their fixtures, and the fixtures that their parameters name."""
    kinds = {KIND_OF_FOLDER.get(item.path.parent.name), KIND_OF_FILE.get(item.path.name)}
    kinds |= {KIND_OF_FIXTURE.get(name) for name in getattr(item, "fixturenames", ())}
    if "postgres" in item.name.partition("[")[2]:
        kinds.add("postgres")
    of_page = item.path.name == "test_blocks.py" and any(page in item.name for page in SAMPLED_PAGES)
    if item.path.name in SAMPLED or of_page:
        kinds |= {"slow", "sample"}
    for kind in kinds - {None}:
        item.add_marker(str(kind))


#: Files with tests of many seconds.
LONGEST = ("test_wheel.py", "test_crash.py", "test_serve_options.py", "test_items_come_and_go.py")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest, whatever the order: otherwise all but one process may have to wait for it."""
    items.sort(key=lambda item: item.path.name not in LONGEST)
