"""The seam under toxiproxy-python: every HTTP request of the library goes through here, checked and bounded.

Left alone, toxiproxy-python 0.1.1 talks to one class-global host, has no time-outs, obeys proxy variables of the
environment, and takes an HTTP 500 for success. Its methods reach the network only through the class `APIConsumer` of
two of its modules, which this module replaces by its own.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import requests
import toxiproxy.proxy
import toxiproxy.server
from requests.adapters import HTTPAdapter

_current: "ContextVar[HttpTransport]" = ContextVar("toxiproxy_wire")


class ToxiproxyFailed(Exception):
    """A call to Toxiproxy did not do what it should: which call, what came instead, and where to look."""


class HttpTransport:
    """HTTP to one server. Not for several threads at once.

    `timeout_s` bounds connecting and each wait for bytes: a stopped server accepts, and says nothing.
    """

    def __init__(self, host: str, port: int, timeout_s: float) -> None:
        self.address = f"{host}:{port}"
        self._timeout_s = timeout_s
        self._session = requests.Session()
        self._session.trust_env = False
        self._session.mount("http://", HTTPAdapter(pool_connections=1, pool_maxsize=1, max_retries=0))

    @contextmanager
    def routing_calls(self) -> Iterator[None]:
        """Inside, the library's calls go to this server."""
        token = _current.set(self)
        try:
            yield
        finally:
            _current.reset(token)

    def request(self, method: str, path: str, **arguments: Any) -> requests.Response:
        """One request. Raises ToxiproxyFailed for everything but an answer of 200 to 299."""
        call = f"{method} {path}"
        try:
            response = self._session.request(
                method,
                f"http://{self.address}{path}",
                timeout=self._timeout_s,
                allow_redirects=False,
                headers={"User-Agent": "faultlab"},
                **arguments,
            )
        except requests.Timeout as exc:
            raise ToxiproxyFailed(
                f"Toxiproxy at {self.address} did not answer {call} within {self._timeout_s:g} s: it hangs"
            ) from exc
        except requests.RequestException as exc:
            raise ToxiproxyFailed(
                f"Toxiproxy at {self.address} broke off {call} ({_root(exc)}): it has died or is not there"
            ) from exc
        if not 200 <= response.status_code < 300:
            raise ToxiproxyFailed(
                f"Toxiproxy at {self.address} answered {call} with HTTP {response.status_code}: {_complaint(response)}"
            )
        return response

    def close(self) -> None:
        self._session.close()


class _RoutedConsumer:
    """What the library calls: the server is that of the calling context, never a global one."""

    @classmethod
    def get(cls, url: str, params: Any = None, **arguments: Any) -> requests.Response:
        return _current.get().request("GET", url, params=params, **arguments)

    @classmethod
    def post(cls, url: str, data: Any = None, json: Any = None, **arguments: Any) -> requests.Response:
        return _current.get().request("POST", url, data=data, json=json, **arguments)

    @classmethod
    def delete(cls, url: str, **arguments: Any) -> requests.Response:
        return _current.get().request("DELETE", url, **arguments)


toxiproxy.server.APIConsumer = _RoutedConsumer
toxiproxy.proxy.APIConsumer = _RoutedConsumer


def _complaint(response: requests.Response) -> str:
    try:
        said = response.json()
    except ValueError:
        return response.text.strip()[:200] or "an empty body"
    return str(said.get("error", said))[:200] if isinstance(said, dict) else str(said)[:200]


def _root(exc: BaseException) -> BaseException:
    while exc.__context__ is not None:
        exc = exc.__context__
    return exc
