"""A real browser without a window, which reaches for nothing by itself."""

import shutil
import subprocess
from pathlib import Path

import pytest


def browse(address: str, folder: Path, *options: str, timeout: float) -> str:
    """What the browser prints; its profile is in the folder."""
    browser = shutil.which("chromium")
    if browser is None:
        pytest.skip("chromium is not installed")
    command = [
        browser,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        f"--user-data-dir={folder / 'profile'}",
        *options,
        address,
    ]
    return subprocess.run(
        command, check=True, capture_output=True, timeout=timeout, text=True
    ).stdout
