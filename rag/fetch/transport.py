"""What the clients of the three services share: polite retries, and their errors in our words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from rag.errors import SourceError

if TYPE_CHECKING:
    from requests.adapters import HTTPAdapter

_RETRIES = 5
_LONGEST_WAIT_S = 60


def polite_adapter() -> HTTPAdapter:
    """Retries on rate limits and server faults, waiting as long as `Retry-After` asks; a dead connection is tried twice."""
    from requests.adapters import HTTPAdapter
    from urllib3.util import Retry

    retry = Retry(
        total=_RETRIES, connect=1, backoff_factor=1, backoff_max=_LONGEST_WAIT_S, status_forcelist=(429, 500, 502, 503, 504),
        raise_on_status=False, respect_retry_after_header=True,
    )  # fmt: skip
    return HTTPAdapter(max_retries=retry)


@contextmanager
def translated(service: str, url: str) -> Iterator[None]:
    """Turns what requests raises into one `SourceError` line."""
    import requests

    host = urlsplit(url).hostname
    try:
        yield
    except (requests.ConnectionError, requests.Timeout) as error:
        raise SourceError(f"No connection to {service} ({host}). Check the network.", retryable=True) from error
    except requests.HTTPError as error:
        status = error.response.status_code if error.response is not None else "an error"
        raise SourceError(f"{service} answered {status} ({host}). Check the query, or try again later.", retryable=True) from error
    except (requests.RequestException, ValueError, KeyError) as error:
        raise SourceError(f"{service} sent an answer that cannot be read ({host}). Try again later.", retryable=True) from error
