"""Trainings of nano with and without auxiliary losses, of several seeds, each evaluated
and probed.

Effort means something in all of them. At `low` the answer comes at once, so whatever
plan there is must be in the residual stream; at `medium` it comes after a search that
is written down. A training without auxiliary losses holds what it has come to hold by
itself.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

from gde import Choice, Plan, evaluate, resume
from gde.data.json import Json
from gde.data.result import Measurement, Result
from gde.request.catalogue import Catalogue
from gde_plugins.language_models.nano.recipe import Recipe
from gde_plugins.language_models.nano.samples import MakeEnvironment
from gde_plugins.language_models.nano.training import Step, train

EFFORTS = ("low", "medium")
VARIANTS = {"cogmap": ("mlp", "bilinear", "ridge"), "distance": ("mlp", "linear")}
PROBED = {"cogmap": ("top1.agent", "top1.goal", "auc.wall"), "distance": ("r2",)}
"""What is told of each probe."""
CONTROLS = ("none", "coordinates", "shuffled", "untrained", "embeddings")


@dataclass(frozen=True, kw_only=True)
class Measured:
    """On what the models are measured."""

    sizes: tuple[int, ...] = (7, 9, 11, 13, 15)
    densities: tuple[float, ...] = (0.0, 0.5, 1.0)
    episodes: int = 20
    """Grids of each size and density."""
    layers: tuple[int, ...] = (0, 1, 2, 3, 4, 5)
    probe: Mapping[str, int] = field(default_factory=dict)
    """What else is set of the probes."""


def recipes(steps: int, seeds: int) -> dict[str, Recipe]:
    """With and without auxiliary losses, each with as many seeds, by name."""
    return {
        f"{'auxiliary' if auxiliary else 'plain'}-{seed}": Recipe(
            steps=steps, seed=seed, auxiliary=auxiliary
        )
        for auxiliary in (True, False)
        for seed in range(seeds)
    }


def train_all(
    wanted: Mapping[str, Recipe],
    make_environment: MakeEnvironment,
    out: Path,
    report: Callable[[Step], None],
    device: str = "cpu",
) -> dict[str, Path]:
    """The folder of every model, trained where it is not there yet; one that was
    interrupted goes on.
    """
    folders = {name: out / "models" / name for name in wanted}
    for name, recipe in wanted.items():
        if not folders[name].exists():
            begun = out / "models" / f"{name}.begun"
            train(recipe, make_environment, begun, report, device)
            begun.rename(folders[name])
    return folders


def measure_all(
    models: Mapping[str, Path],
    out: Path,
    on: Measured,
    catalogue: Catalogue | None = None,
) -> Path:
    """Evaluate and probe every model at every effort, and write the tables of a model
    card.
    """
    tables = []
    for name, model in models.items():
        for effort in EFFORTS:
            result = _result(
                _plan(model, effort, on), out / "runs" / f"{name}-{effort}", catalogue
            )
            tables += [
                f"## {name}, effort {effort}",
                "",
                *_accuracy(result, on),
                "",
                *_decoded(result, on),
                "",
            ]
    card = out / "card.md"
    card.write_text("\n".join(["# Trainings of nano", "", *tables]), encoding="utf-8")
    return card


def _plan(model: Path, effort: str, on: Measured) -> Plan:
    asked: dict[str, Json] = {
        "model": f"hf:{model.resolve()}",
        "style": "compact",
        "effort": effort,
    }
    read: dict[str, Json] = {"layer": [*on.layers], "positions": ["pre"], **on.probe}
    maps: dict[str, Json] = {
        **read,
        "size": max(on.sizes),
        "variants": [*VARIANTS["cogmap"]],
    }
    return Plan(
        environment=Choice(
            name="grid", config={"size": [*on.sizes], "density": [*on.densities]}
        ),
        agent=Choice(name="gpt-oss", config=asked),
        probes=(
            Choice(name="cogmap", config=maps),
            Choice(name="distance", config=read),
        ),
        metrics=(Choice(name="success"), Choice(name="accuracy")),
        episodes=on.episodes,
    )


def _result(plan: Plan, folder: Path, catalogue: Catalogue | None) -> Result:
    """Of the run, which goes on where it is there already; nothing of a finished one is
    done again.
    """
    return (
        resume(folder, catalogue)
        if folder.exists()
        else evaluate(plan, folder, catalogue)
    )


def _accuracy(result: Result, on: Measured) -> Iterator[str]:
    """Next-move accuracy by size and density."""
    yield _row(
        "size", *(f"accuracy at density {density:g}" for density in on.densities)
    )
    yield _row(*["---"] * (1 + len(on.densities)))
    for size in on.sizes:
        cells = [
            _value(result.measurements, "accuracy", size=size, density=density)
            for density in on.densities
        ]
        yield _row(str(size), *cells)


def _decoded(result: Result, on: Measured) -> Iterator[str]:
    """What the probes and their controls find at every layer."""
    yield _row(
        "layer",
        "variant",
        "decoded",
        *("probe" if each == "none" else each for each in CONTROLS),
    )
    yield _row(*["---"] * (3 + len(CONTROLS)))
    for layer, probe in product(on.layers, PROBED):
        for variant, name in product(VARIANTS[probe], PROBED[probe]):
            where: dict[str, str | int] = {
                "layer": layer,
                "variant": variant,
                "position": "pre",
            }
            cells = [
                _value(result.measurements, f"{probe}.{name}", **where, control=each)
                for each in CONTROLS
            ]
            yield _row(str(layer), variant, f"{probe} {name}", *cells)


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _value(
    numbers: Sequence[Measurement], name: str, **where: str | int | float
) -> str:
    """The number of just this, or nothing: controls that are the same at all layers are
    at the first. What is not swept is on no number.
    """
    found = [
        one
        for one in numbers
        if one.name == name and one.where.items() <= where.items()
    ]
    closest = max(found, key=lambda one: len(one.where), default=None)
    return "" if closest is None or closest.value is None else f"{closest.value:.2f}"
