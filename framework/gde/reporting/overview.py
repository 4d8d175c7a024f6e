"""A result as Python prints it."""

from gde.data.result import Result
from gde.reporting.terminal.screen import screen


def overview(result: Result) -> str:
    """Claim, headlines and cautions, as the terminal shows them.

    The last line says what is missing.
    """
    shown = screen(result)
    # The last note names an option of the command line.
    *notes, _ = shown.notes
    n_numbers = len(result.measurements)
    last = f"{result.status}: {result.run} (all {n_numbers} numbers: to_frame())"
    if result.missing:
        last += f"; missing: {result.missing}"
    return "\n".join([*shown.header, *shown.finding, *notes, last])
