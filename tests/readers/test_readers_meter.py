"""How many records there are in all is guessed from the share of the bytes read."""

import gzip
import hashlib
import io
import json
import sys
from pathlib import Path

import pytest

from rag.readers import Meter, read_papers


def lines(count: int) -> bytes:
    return b"".join(
        json.dumps(
            {"id": f"p{n}", "title": f"T{n:06}", "abstract": f"A sentence {hashlib.sha512(bytes([n % 256, n // 256])).hexdigest() * 4}."}
        ).encode()
        + b"\n"
        for n in range(count)
    )


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_the_total_is_guessed_on_the_way_and_right_at_the_end(tmp_path: Path, pack) -> None:
    (tmp_path / "a.jsonl").write_bytes(pack(lines(3_000)))
    (tmp_path / "b.jsonl").write_bytes(pack(lines(1_000)))
    meter = Meter()
    guesses = [meter.total(done) for done, _ in enumerate(read_papers([tmp_path], meter=meter), start=1)]
    assert guesses[-1] == 4_000
    assert all(guess is not None and 2_500 <= guess <= 6_000 for guess in guesses[1_000:])


def test_nothing_is_guessed_of_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines(3))))
    meter = Meter()
    assert [meter.total(1) for _ in read_papers(["-"], meter=meter)] == [None] * 3
