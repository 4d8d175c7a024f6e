"""The viewer as a server on the loopback interface."""

import socket
from collections.abc import Callable
from contextlib import closing, suppress
from importlib.util import find_spec
from pathlib import Path

from gde.errors import GdeError, MissingExtra

HOST = "127.0.0.1"
PACKAGES = ("starlette", "uvicorn", "jinja2", "vl_convert")


def serve(root: Path, port: int, ready: Callable[[str], None]) -> None:
    """Serve the runs in a folder until interrupted; nobody but this machine can reach it.

    Args:
        root: the folder.
        port: 0 for any that is free.
        ready: is told the address.

    Raises:
        MissingExtra: the packages of the viewer are not installed.
        GdeError: no folder, or the port is taken.
    """
    if missing := [name for name in PACKAGES if find_spec(name) is None]:
        raise MissingExtra("gde view --serve", missing, "view")
    import uvicorn

    from gde.reporting.viewer.app import create_app

    if not root.is_dir():
        raise GdeError(f"no folder {root}: wanted one with runs in it")
    with closing(socket.socket()) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((HOST, port))
        except OSError as error:
            raise GdeError(f"port {port} of {HOST}: {error.strerror}; choose another with --port") from error
        ready(f"http://{HOST}:{listening.getsockname()[1]}/")
        server = uvicorn.Server(uvicorn.Config(create_app(root), log_level="warning", access_log=False, lifespan="off"))
        with suppress(KeyboardInterrupt):  # the way to end it
            server.run(sockets=[listening])
