"""Two runs on one screen: the settings in which they differ, and the figure of both."""

from gde.comparisons.comparison import Comparison
from gde.reporting.pair import pair_groups
from gde.reporting.terminal.contest_screen import BELOW, opened
from gde.reporting.terminal.plot import legend, plot
from gde.reporting.terminal.screen import HEIGHT, SPARE, WIDTH, plain, wrapped
from gde.reporting.wording import setting_text


def pair_screen(found: Comparison, width: int = WIDTH) -> tuple[str, ...]:
    """Lines of at most so many columns that leave room for the command's own lines.

    Args:
        found: two runs that were compared.
        width: columns of the terminal.
    """
    first, second = found.pair(found.compared[0])
    lines = opened(found, width)
    for name in (first, second):
        settings = found.differing[name].items()
        told = ", ".join(f"{key} {setting_text(value)}" for key, value in settings)
        lines += wrapped(f"{name}: {told}", 1, width=width) if told else []
    drawn = plot(pair_groups(found), width, HEIGHT - BELOW - len(lines) - SPARE)
    if drawn:
        lines += ["", *drawn, legend(drawn, control=first, agent=second)]
    return plain(lines)
