"""Where `discreet serve` listens, how it encrypts, who may call it, and how all of it is given."""

import contextlib
import os
import pathlib
import re
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator

import httpx2
import pytest
from http_helpers import client, service

from discreet.cli import main
from discreet.service.api_keys import new_key
from running_service import free_port


@contextlib.contextmanager
def serving(log: pathlib.Path, **settings: object) -> Iterator["subprocess.Popen[str]"]:
    """A server that takes everything from its environment, once it is ready."""
    given = {f"DISCREET_{name.upper()}": str(value) for name, value in settings.items()}
    with open(log, "w") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "discreet", "serve"],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))} | given,
        )
    try:
        while "Uvicorn running on" not in log.read_text():
            assert process.poll() is None, log.read_text()
            time.sleep(0.02)
        yield process
    finally:
        process.terminate()
        process.wait(60)
        assert process.stdout is not None
        process.stdout.close()


@pytest.mark.process
def test_all_is_taken_from_the_environment(
    tmp_path: pathlib.Path, certificate: tuple[pathlib.Path, pathlib.Path]
) -> None:
    """The first admin key as well, which is printed nowhere then; and its memory is never dumped."""
    cert, cert_key = certificate
    admin_key, port, log = new_key(), free_port(), tmp_path / "log"
    headers = {"authorization": f"Bearer {admin_key}"}
    settings = {
        "store": tmp_path / "shop.db",
        "key_file": tmp_path / "shop.key",
        "rollback_guard": tmp_path / "shop.guard",
        "port": port,
        "admin_key": admin_key,
        "tls_cert": cert,
        "tls_key": cert_key,
        "cors_origin": "https://one.example https://two.example",
        "max_body": 100,
        "policy": "one-by-one=examples.gallery.own_policy:OneByOne",
    }

    context = ssl.create_default_context(cafile=str(cert))
    with httpx2.Client(base_url=f"https://127.0.0.1:{port}", headers=headers, verify=context) as admin:
        with serving(log, **settings) as process:
            assert admin.get("/v1/learners").json() == {"learners": []}
            assert admin.post("/v1/keys", content=b" " * 101).status_code == 413
            for origin, allowed in (("https://two.example", True), ("https://three.example", False)):
                answer = admin.get("/livez", headers={"origin": origin})
                assert (answer.headers.get("access-control-allow-origin") == origin) == allowed
            with client(f"http://127.0.0.1:{port}", None) as plain, pytest.raises(httpx2.TransportError):
                plain.get("/livez")
            limits = pathlib.Path(f"/proc/{process.pid}/limits").read_text()
            assert re.search(r"Max core file size\s+0\s+0\s", limits)
            process.terminate()
            assert process.stdout is not None
            assert process.stdout.read() == ""
        with serving(log, **settings | {"admin_key": new_key()}):  # not a new store: it keeps its own
            assert admin.get("/v1/learners").status_code == 200
    assert admin_key.rpartition("_")[2] not in log.read_text()
    assert (tmp_path / "shop.key").exists()
    assert (tmp_path / "shop.guard").exists()


@pytest.mark.process
def test_a_socket_in_the_file_system(tmp_path: pathlib.Path) -> None:
    """One that a killed server left is replaced; none remains."""
    path, log = tmp_path / "discreet.sock", tmp_path / "log"
    settings = {"store": tmp_path / "shop.db", "uds": path}
    with httpx2.Client(base_url="http://discreet", transport=httpx2.HTTPTransport(uds=str(path))) as caller:
        with serving(log, **settings) as process:
            assert caller.get("/readyz").status_code == 200
            process.kill()
            process.wait()
        assert path.exists()
        with serving(log, **settings):
            assert caller.get("/readyz").status_code == 200
    assert not path.exists()
    assert "beyond this machine" not in log.read_text()


@pytest.mark.process
@pytest.mark.parametrize("behind_proxy", [False, True])
def test_a_server_beyond_this_machine_warns_unless_a_proxy_is_in_front(
    tmp_path: pathlib.Path, behind_proxy: bool
) -> None:
    """It serves all the same."""
    settings = {"store": tmp_path / "shop.db", "host": "0.0.0.0", "port": free_port()}
    with serving(tmp_path / "log", **settings, behind_proxy=behind_proxy):
        assert ("beyond this machine" in (tmp_path / "log").read_text()) != behind_proxy


@pytest.mark.usefixtures("same_logging_afterwards")
def test_an_admin_key_that_is_none(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Is refused and not repeated; `discreet keys new` prints one that is taken."""
    monkeypatch.setenv("DISCREET_ADMIN_KEY", new_key()[:-1] + "x")
    with pytest.raises(SystemExit):
        main(["serve", "--store", str(tmp_path / "shop.db"), "--port", "0"])
    refused = capsys.readouterr()
    assert os.environ["DISCREET_ADMIN_KEY"] not in refused.out + refused.err
    assert "discreet keys new" in refused.err
    with pytest.raises(SystemExit):
        main(["keys", "new"])
    from discreet.service.learner_service import LearnerService

    with LearnerService.open(tmp_path / "new.db") as learner_service:
        key = capsys.readouterr().out.strip()
        assert learner_service.api_keys.first(key) == key
        assert learner_service.api_keys.find(key) is not None


@pytest.mark.usefixtures("same_logging_afterwards")
@pytest.mark.parametrize("wrong", ["missing", "not a certificate", "half"])
def test_files_for_tls_that_cannot_be_used(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str], wrong: str
) -> None:
    """Are refused before a store is made."""
    (tmp_path / "cert.pem").write_text("not a certificate")
    files = {
        "missing": ["--tls-cert", "nowhere.pem", "--tls-key", "nowhere.pem"],
        "not a certificate": [
            "--tls-cert",
            str(tmp_path / "cert.pem"),
            "--tls-key",
            str(tmp_path / "cert.pem"),
        ],
        "half": ["--tls-cert", str(tmp_path / "cert.pem")],
    }
    with pytest.raises(SystemExit):
        main(["serve", "--store", str(tmp_path / "shop.db"), "--port", "0", *files[wrong]])
    assert "TLS" in capsys.readouterr().err
    assert not (tmp_path / "shop.db").exists()


def test_other_websites_may_not_call_by_default(tmp_path: pathlib.Path) -> None:
    """Without an origin that was named, a browser gets no permission; with one, also for errors."""
    asked = {"origin": "https://shop.example", "access-control-request-method": "POST"}
    for settings, allowed in (
        ({}, None),
        ({"cors_origins": ("https://shop.example",)}, "https://shop.example"),
    ):
        with service(tmp_path / f"{bool(settings)}.db", log_requests=False, **settings) as served:
            preflight = served.nobody.options("/v1/learners/shop/ask", headers=asked)
            assert preflight.headers.get("access-control-allow-origin") == allowed
            refused = served.nobody.post("/v1/learners/shop/ask", headers=asked)
            assert (refused.status_code, refused.headers.get("access-control-allow-origin")) == (401, allowed)
