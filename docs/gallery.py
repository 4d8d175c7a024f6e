"""Makes the gallery from runs: `python docs/gallery.py [FOLDER]`.

Figures are drawn by the functions that reports use, and pages are those of a contest;
nothing is edited afterwards.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from gde import Choice, Figure, How, Plan, evaluate
from gde.comparisons.contest import contest
from gde.reporting.drawing import svg_file
from gde.reporting.pages import figures, write_page

HERE = Path(__file__).parent / "gallery"
SWEEP = Choice(name="grid", config={"size": [5, 7, 9, 11], "density": [0.0, 0.5, 1.0]})
AGENTS = {
    "random": Choice(name="random"),
    "noisy": Choice(name="noisy", config={"p": 0.2}),
}
EPISODES = 30
ACCURACY = "difficulty.accuracy"
BREAKDOWNS = (("size", "density"), ("distance",))


def main(folder: Path) -> None:
    """Write every figure as NAME.svg, and the pages of a contest."""
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as runs:
        write_pages(Path(runs) / "contest", folder / "contest")
        for name, figure in drawn(Path(runs)):
            file = folder / f"{name}.svg"
            file.write_text(svg_file(figure), encoding="utf-8")


def drawn(runs: Path) -> Iterator[tuple[str, Figure]]:
    """Name and figure: the same sweep walked by agents that are known, broken down in
    two ways.
    """
    for name, agent in AGENTS.items():
        plan = Plan(
            environment=SWEEP,
            agent=agent,
            metrics=["difficulty"],
            episodes=EPISODES,
        )
        result = evaluate(plan, runs / name, how=How(reporters=[]))
        for keys in BREAKDOWNS:
            shown = [
                each
                for each in result.measurements
                if (each.name, {*each.where}) == (ACCURACY, {*keys})
            ]
            (figure,) = figures(shown, result.meanings)
            yield f"{name}-by-{'-'.join(keys)}", figure


def write_pages(runs: Path, folder: Path) -> None:
    """Write the page of a contest of scripted agents, and those of its runs."""
    plans = {}
    for name in ("random", "noisy", "optimal"):
        plans[name] = Plan(
            environment=Choice(name="grid", config={"size": [7, 9]}),
            agent=name,
            metrics=["success", "accuracy", "efficiency", "meg-verdict"],
            episodes=12,
        )
    write_page(contest(plans, runs))
    for page in runs.rglob("*.html"):
        copy = folder / page.relative_to(runs)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(page.read_bytes())


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
