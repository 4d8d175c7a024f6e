"""The viewer answers who knows the token, at an address that is told once it listens."""

import re
import socket
import subprocess
import sys
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from starlette.testclient import TestClient

from gde_plugins.viewer.app import create_app


def test_without_the_token_nothing_is_shown(tmp_path: Path) -> None:
    app = create_app(tmp_path, token="right")
    with TestClient(app, base_url="http://127.0.0.1") as client:
        for address in ("/", "/?token=wrong", "/?token=r%C3%AFght", "/run/x"):
            assert client.get(address).status_code == 403
        assert client.get("/?token=right").status_code == 200
        # The browser keeps it for the pages that follow.
        assert client.get("/").status_code == 200


def test_the_address_is_told_when_it_can_be_reached(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "gde", "view", str(tmp_path), "--serve"]
    with subprocess.Popen(
        [*command, "--port", "0"], stderr=subprocess.PIPE, text=True
    ) as going:
        try:
            assert going.stderr is not None
            address = re.findall(r"http://\S+", going.stderr.readline())[0]
            host = re.findall(r"127\.0\.0\.1:\d+", address)[0]
            name, port = host.split(":")
            # At once, without waiting.
            socket.create_connection((name, int(port)), timeout=5).close()
            with urlopen(address) as page:
                assert page.status == 200
            with pytest.raises(HTTPError, match="403"):
                urlopen(f"http://{host}/")
        finally:
            going.terminate()
