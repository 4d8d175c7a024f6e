"""An episode as an animated SVG file: its maps one after the other."""

from gde.data.trajectory import Trajectory
from gde.errors import GdeError
from gde.reporting.drawing import xml_text
from gde_plugins.pages.episodes import film_of
from gde_plugins.pages.templates import source, template

SECONDS = 0.7
"""For which each turn is shown."""
WIDTH = 256


def animation(trajectory: Trajectory) -> str:
    """The true maps of an episode with the moves taken and optimal, again and again.

    Raises:
        GdeError: its world is no map.
    """
    film = film_of(trajectory, {})
    frames = [frame for frame in film["turns"] if "truth" in frame]
    if not frames:
        raise GdeError(
            f"episode {trajectory.key} has no maps to draw: `gde view RUN {trajectory.key}` shows its text"
        )
    drawn = template("animation.svg.j2").render(
        frames=frames,
        style=source("style.css"),
        seconds=SECONDS,
        width=WIDTH,
        title=f"Episode {film['key']}: {film['outcome']}",
    )
    return xml_text(drawn)
