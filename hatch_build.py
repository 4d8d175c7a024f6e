"""Writes the commit of a build into it: an archive has no history to ask."""

import subprocess
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NAME = "COMMIT"


class Hook(BuildHookInterface):  # type: ignore[type-arg]
    """Adds the file `gde/COMMIT`, unless it is there or the tree has no commit."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the file to a wheel or a source archive."""
        if version == "editable" or (Path(self.root) / "framework/gde" / NAME).exists():
            return
        # As `gde.request.provenance.commit` asks for it.
        git = ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
        try:
            found = subprocess.run(
                git, check=False, cwd=self.root, capture_output=True, text=True
            )
        except OSError:
            return
        if found.returncode:
            return
        file = Path(mkdtemp()) / NAME
        file.write_text(found.stdout)
        folder = "gde" if self.target_name == "wheel" else "framework/gde"
        build_data["force_include"][str(file)] = f"{folder}/{NAME}"
