"""The Chroma half: places, refused logins, silent servers, and reading while another process writes."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from store_papers import HashEmbedder, make_papers

from rag.errors import CorpusError, UsageError
from rag.settings import Settings
from rag.store import Corpora, Filters
from rag.store.chroma import ChromaRecord, ChromaStore
from rag.store.dense import DenseSearch
from rag.store.place import ChromaPlace, chroma_place


def test_the_settings_choose_the_place(tmp_path: Path) -> None:
    embedded = chroma_place(Settings(), "iclr", tmp_path)
    assert (embedded.kind, embedded.folder, embedded.collection, embedded.label) == (
        "embedded",
        tmp_path / "chroma",
        "papers",
        "embedded papers",
    )
    server = chroma_place(Settings(chroma_url="https://chroma.example.org"), "iclr", tmp_path)
    assert (server.kind, server.address, server.collection) == ("server", "https://chroma.example.org:443", "ask-iclr")
    cloud = chroma_place(Settings(chroma_api_key="ck-1", chroma_tenant="t", chroma_database="d"), "iclr", tmp_path)
    assert (cloud.kind, cloud.address) == ("cloud", "https://api.trychroma.com:443/t/d")
    assert "ck-1" not in repr(cloud)


@pytest.mark.parametrize("url", ["ftp://x", "http://", "http://h:port", "http://h:99999", "http://h/path", "http://[::1"])
def test_a_wrong_address_is_told(tmp_path: Path, url: str) -> None:
    with pytest.raises(UsageError, match="is not the address of a Chroma server. Write it as http://localhost:8000"):
        chroma_place(Settings(chroma_url=url), "x", tmp_path)


class Refusing(BaseHTTPRequestHandler):
    tokens: list[str]

    def do_GET(self) -> None:
        self.tokens.append(self.headers.get("x-chroma-token", ""))
        is_beat = self.path.endswith("heartbeat")
        body = json.dumps({"nanosecond heartbeat": 1} if is_beat else {"error": "AuthError", "message": "Forbidden"}).encode()
        self.send_response(200 if is_beat else 403)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def refusing() -> Iterator[ThreadingHTTPServer]:
    Refusing.tokens = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Refusing)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_the_cloud_gets_the_key_and_a_refusal_is_told(refusing: ThreadingHTTPServer) -> None:
    place = ChromaPlace("cloud", "ask-x", host="127.0.0.1", port=refusing.server_port, api_key="ck-secret")
    with pytest.raises(CorpusError, match="refused the login.*Check CHROMA_API_KEY and CHROMA_TENANT") as caught:
        ChromaStore(place, "me", "fp").count()
    assert "ck-secret" not in str(caught.value)
    assert "ck-secret" in Refusing.tokens


def test_a_silent_server_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        place = ChromaPlace("server", "ask-x", host="127.0.0.1", port=silent.getsockname()[1], timeout_s=0.3)
        with pytest.raises(CorpusError, match="No answer from Chroma at http://127.0.0.1"):
            ChromaStore(place, "me", "fp").count()


def test_records_come_back_page_by_page(tmp_path: Path) -> None:
    store = ChromaStore(ChromaPlace("embedded", "papers", folder=tmp_path / "chroma"), "me", "fp")
    vectors = np.eye(8, dtype=np.float32)
    records = [ChromaRecord(f"p#{n}", vectors[n % 8], f"text {n}", {"index": n, "share": 0.5}) for n in range(4_100)]
    store.upsert(records)
    back = sorted(store.records(), key=lambda record: record.metadata["index"])
    assert [(r.id, r.text, r.metadata) for r in back] == [(r.id, r.text, r.metadata) for r in records]
    assert np.allclose([r.vector for r in back], [r.vector for r in records])
    assert store.origin() == ("me", "fp")
    store.delete([record.id for record in records[10:]])
    assert store.count() == 10
    store.drop()
    assert store.count() == 0
    store.close()


_WRITER = """
import sys
sys.path.insert(0, {here!r})
from pathlib import Path
from store_papers import HashEmbedder, make_papers
from rag.settings import Settings
from rag.store import Corpora
with Corpora(Settings(home=Path({home!r}))).open_for_sync('mine', HashEmbedder()) as library:
    library.sync(make_papers(600))
"""


@pytest.mark.slow
def test_chroma_is_searched_while_another_process_writes_it(settings: Settings, embedder: HashEmbedder) -> None:
    with Corpora(settings).open_for_sync("mine", embedder) as library:
        library.sync(make_papers(100))
        source = _WRITER.format(here=str(Path(__file__).parent), home=str(settings.home))
        writer = subprocess.Popen([sys.executable, "-c", source], stderr=subprocess.PIPE)
        by_chroma = DenseSearch(library.catalog, library.store, exact_chunks=400)
        searches = 0
        while writer.poll() is None:
            query = embedder.embed([f"query {searches}"])[0]
            assert len(by_chroma.search(query, 10, Filters())) == 10
            searches += 1
        assert writer.communicate()[1] == b""
        assert (writer.returncode, library.count(), library.store.count()) == (0, 600, 1_200)
        assert searches > 5
        expected, found = library.dense(query, 10), by_chroma.search(query, 10, Filters())
        assert [(hit.paper_id, hit.index) for hit in found] == [(hit.paper_id, hit.index) for hit in expected]
