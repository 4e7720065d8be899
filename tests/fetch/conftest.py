"""A local server that answers in the shapes of the services' documentation."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest

Reply = tuple[int, dict[str, str], str]


@dataclass
class Service:
    """Calls `answer(parameters)` for each request; `faults` are sent first, one per request."""

    url: str = ""
    answer: Callable[[dict[str, str]], Reply] = lambda parameters: (404, {}, "")
    faults: list[Reply] = field(default_factory=list)
    requests: list[dict[str, str]] = field(default_factory=list)


@pytest.fixture
def service() -> Iterator[Service]:
    state = Service()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parameters = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
            state.requests.append(parameters)
            status, headers, body = state.faults.pop(0) if state.faults else state.answer(parameters)
            content = body.encode()
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", "Content-Length": str(len(content)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield state
    server.shutdown()
    server.server_close()
    thread.join()
