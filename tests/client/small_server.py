"""A small HTTP server that answers as a test says."""

import collections
import http.server
import json
import threading
from collections.abc import Callable
from typing import Any, Self


class SmallServer(http.server.ThreadingHTTPServer):
    """Answers in threads, one for each connection.

    Args:
        answer: Makes an answer from method, path and the decoded body: JSON, a status, or a pair of both.

    Attributes:
        requests: Method and path of each request.
        keys: With which keys they came.
        most_open: Connections at a time.
    """

    request_queue_size = 1000

    def __init__(self, answer: Callable[[str, str, Any], Any]) -> None:
        self.answer = answer
        self.requests: list[tuple[str, str]] = []
        self.keys: collections.Counter[str] = collections.Counter()
        self.open = self.most_open = 0
        self.lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01})

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self._thread.join()
        self.server_close()


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one packet
    server: SmallServer

    def setup(self) -> None:
        super().setup()
        with self.server.lock:
            self.server.open += 1
            self.server.most_open = max(self.server.most_open, self.server.open)

    def finish(self) -> None:
        with self.server.lock:
            self.server.open -= 1
        super().finish()

    def do_any(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        with self.server.lock:
            self.server.requests.append((self.command, self.path))
            self.server.keys[self.headers["authorization"].removeprefix("Bearer ")] += 1
        answer = self.server.answer(self.command, self.path, json.loads(body) if body else None)
        if not isinstance(answer, tuple):
            answer = (answer, {}) if isinstance(answer, int) else (200, answer)
        status, answer = answer
        content = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_PUT = do_DELETE = do_any

    def log_message(self, *_: object) -> None:
        """Tests read no log."""
