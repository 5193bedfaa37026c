"""A running collector: uvicorn, without logs of who came."""

from __future__ import annotations

import errno
import os
import socket
import sys
from ipaddress import ip_network
from pathlib import Path

import uvicorn

from elsewhere.collector.app import Collector
from elsewhere.collector.connections import Connection
from elsewhere.errors import InputError
from elsewhere.files import whole_file
from elsewhere.randomness import random_id

_MOST_CONNECTIONS = 2000
_OTHER_FILES = 200
"""Open files beside connections: the store, libraries, pipes."""
_KEPT_OPEN = 10
_SHORTEST_TOKEN = 16


def server(collector: Collector, host: str, port: int, *, proxy: str | None = None) -> uvicorn.Server:
    """A server that keeps no address, no user agent and no time of arrival, also not in logs (R21).

    A ``proxy`` in front is believed when it says where a request came from, which only limits look at.
    """
    config = uvicorn.Config(
        collector.app(),
        host=host,
        port=port,
        access_log=False,
        log_level="error",  # a warning for each strange request would let strangers fill the disk
        server_header=False,
        date_header=False,
        proxy_headers=proxy is not None,
        forwarded_allow_ips=proxy,
        http=Connection,
        limit_concurrency=_most_connections(),
        timeout_keep_alive=_KEPT_OPEN,
        timeout_graceful_shutdown=_KEPT_OPEN,
        lifespan="on",
        ws="none",
    )
    return uvicorn.Server(config)


def _most_connections() -> int:
    """As many as we want, if that many files may be open; many systems begin with 1,024."""
    if sys.platform == "win32":
        return _MOST_CONNECTIONS
    import resource  # noqa: PLC0415 - not on Windows

    files, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MOST_CONNECTIONS + _OTHER_FILES
    unlimited = resource.RLIM_INFINITY
    if files != unlimited and files < wanted:
        files = wanted if most == unlimited else min(wanted, most)
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, most))
    return _MOST_CONNECTIONS if files == unlimited else max(1, min(_MOST_CONNECTIONS, files - _OTHER_FILES))


def bound_socket(host: str, port: int) -> socket.socket:
    """A socket at an address that is free."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        found = socket.socket(family, kind, protocol)
    except OSError as error:
        raise InputError("--host", f"found {host!r}: {error.strerror}") from None
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(address)
    except OSError as error:
        found.close()
        option = "--host" if error.errno == errno.EADDRNOTAVAIL else "--port"
        raise InputError(option, f"cannot listen at {host}:{port}: {error.strerror}") from None
    return found


def checked_proxy(text: str) -> str:
    """Addresses or networks of proxies. A name would match nobody, and nobody would notice."""
    for part in text.split(","):
        try:
            ip_network(part.strip())
        except ValueError:
            wanted = "an address or a network, such as 127.0.0.1 or 172.31.0.0/24"
            raise InputError("--proxy", f"found {text!r}, must be {wanted}") from None
    return text


def token_of(path: Path) -> str:
    """The analysts' token from a file only its owner may read; made if it is not there."""
    if not path.exists():
        with whole_file(path, is_private=True) as file:
            file.write(f"{random_id()}\n".encode())
    try:
        token = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        raise InputError(str(path), "cannot be read as a token") from None
    if len(token) < _SHORTEST_TOKEN or not token.isprintable():
        raise InputError(str(path), f"is no token: it must have {_SHORTEST_TOKEN} letters or more")
    if os.name == "posix" and path.stat().st_mode & 0o077:
        raise InputError(str(path), "may be read by others: chmod 600")
    return token
