"""The viewer as a server on the loopback interface."""

import socket
from collections.abc import Callable
from contextlib import closing, suppress
from importlib.util import find_spec
from pathlib import Path
from secrets import token_urlsafe

from gde.errors import GdeError, MissingExtra

HOST = "127.0.0.1"
PACKAGES = ("starlette", "uvicorn", "jinja2", "vl_convert")


def serve(root: Path, port: int, ready: Callable[[str], None], place: str = "") -> None:
    """Serve the runs in a folder to this machine alone, until interrupted.

    Args:
        root: the folder with the runs.
        port: 0 for any free port.
        ready: called with the address, once the server can be reached there.
        place: path and fragment of the page to show first.

    Raises:
        MissingExtra: the packages of the viewer are not installed.
        GdeError: the folder is missing, or the port is taken.
    """
    missing = [name for name in PACKAGES if find_spec(name) is None]
    if missing:
        raise MissingExtra("gde view --serve", missing, "view")

    import uvicorn

    from gde_plugins.viewer.app import TOKEN, create_app

    if not root.is_dir():
        raise GdeError(f"{root} is no folder. Name a folder with runs.")

    # A socket of our own tells the port before the server runs, also where the system
    # chose it.
    with closing(socket.socket()) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((HOST, port))
        except OSError as error:
            raise GdeError(
                f"Port {port} of {HOST}: {error.strerror}. Choose another with --port."
            ) from error
        # Connections wait from here on, so the address can be told.
        listening.listen()
        _, chosen_port = listening.getsockname()
        token = token_urlsafe(16)
        page, _, fragment = place.partition("#")
        within = f"#{fragment}" if fragment else ""
        ready(f"http://{HOST}:{chosen_port}/{page}?{TOKEN}={token}{within}")

        config = uvicorn.Config(
            create_app(root, token=token),
            log_level="warning",
            access_log=False,
            lifespan="off",
        )
        server = uvicorn.Server(config)
        # Ctrl-C is the way to end it.
        with suppress(KeyboardInterrupt):
            server.run(sockets=[listening])
