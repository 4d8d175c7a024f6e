"""Pages of several runs and figures of numbers, which a plugin makes."""

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from gde.data.figure import Figure
from gde.data.measure import Measures
from gde.data.result import Measurement
from gde.errors import GdeError, RunFailed
from gde.request.catalogue import load_plugins

if TYPE_CHECKING:
    from gde.comparisons.contest import Contest
    from gde.studies.study import Study


def write_page(shown: "Contest | Study") -> tuple[Path | None, str]:
    """Have the page of a contest or study written into its folder.

    Returns:
        The path of the page, or None and the reason why there is none.

    Raises:
        RunFailed: the folder is not writable.
    """
    plugins = load_plugins(offers=False)
    try:
        page: Path | None = plugins.manager.hook.gde_write_page(shown=shown)
    except RunFailed:
        raise
    except GdeError as error:
        return None, str(error)
    return page, "" if page else f"no plugin writes one.{plugins.off}"


def no_report() -> str:
    """Why runs have no report; empty where a plugin offers one for every run."""
    plugins = load_plugins(offers=False)
    offers = chain.from_iterable(plugins.manager.hook.gde_reporters())
    if any(offer.default for offer in offers):
        return ""
    return f"no plugin writes one.{plugins.off}"


def figures(numbers: Sequence[Measurement], meanings: Measures) -> Sequence[Figure]:
    """Draw numbers by their labels: one makes a curve, two a heat map.

    Raises:
        GdeError: no plugin draws them.
    """
    plugins = load_plugins(offers=False)
    drawn: Sequence[Figure] | None = plugins.manager.hook.gde_draw_numbers(
        numbers=numbers, meanings=meanings
    )
    if drawn is None:
        raise GdeError(f"figures: no plugin draws them.{plugins.off}")
    return drawn
