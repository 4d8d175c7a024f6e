"""How often walkers with known aims are called goal-directed, by several rules."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import ceil

from gde.data.json import Labels
from gde.parts.reproduction import Comparison
from gde.seeding import generator
from gde_plugins.meg.trajectories.episodes import Episode
from gde_plugins.meg.verdict.pursuits import pursuits_of
from gde_plugins.meg.verdict.randomisation import LEVEL, Randomisation
from meg_studies.baselines.arena import KINDS, Arena, arenas
from meg_studies.baselines.walkers import Maker
from meg_studies.config import BaselinesConfig
from meg_studies.suite import Suite, share_called

SURE = 0.95
"""Probability from which on a posterior counts as an answer."""
Rules = Callable[[Arena, str, Maker], Mapping[str, bool]]
"""From the worlds of a run and a walker with its name: whether it is called
goal-directed, by each rule.
"""
Tables = Mapping[str, Mapping[str, Maker]]
"""By title of a table: the walkers in its rows."""


def walkers_study(
    config: BaselinesConfig, rules: Rules, tables: Tables, source: str
) -> Suite:
    """Return the study of the share of runs in which each walker is called
    goal-directed.

    "Ours" is the share by the first rule; the other columns are those of the other
    rules, on the same runs.

    Args:
        config: size of the study.
        rules: call a run goal-directed.
        tables: the walkers of each table.
        source: where a number would be printed.
    """

    def rows(scale: float) -> Iterator[Comparison]:
        walkers: dict[str, Maker] = {}
        for table in tables.values():
            walkers.update(table)

        # A kind is simulated once for the walkers of all tables, as its worlds take
        # long to solve.
        samples = max(1, ceil(config.samples * scale))
        found = {}
        for kind in KINDS:
            found[kind] = _found(arenas(config, kind), samples, walkers, rules)
        for title, of_table in tables.items():
            for kind in KINDS:
                for name in of_table:
                    where: Labels = {"world": kind, "agent": name}
                    yield _row(f"{title}, {kind}", where, found[kind][name], source)

    return Suite(rows)


def _found(
    draw: Callable[[int], Arena],
    samples: int,
    walkers: Mapping[str, Maker],
    rules: Rules,
) -> Mapping[str, Sequence[Mapping[str, bool]]]:
    """Return by walker what each of its runs is called, by each rule."""
    found: dict[str, list[Mapping[str, bool]]] = {name: [] for name in walkers}
    for sample in range(samples):
        arena = draw(sample)
        for name, make in walkers.items():
            found[name].append(rules(arena, name, make))
    return found


def _row(
    title: str, where: Labels, found: Sequence[Mapping[str, bool]], source: str
) -> Comparison:
    shares = {}
    for rule in found[0]:
        hits = [each[rule] for each in found]
        shares[rule] = share_called(hits, where)

    # What is left after the first rule are the other columns.
    ours = shares.pop(next(iter(shares)))
    return Comparison(
        quantity=str(where["agent"]),
        paper=None,
        ours=ours,
        source=source,
        table=title,
        others=shares,
    )


def called(arena: Arena, episodes: Sequence[Episode]) -> bool:
    """Return whether the verdict on the agent of these episodes is "shown"."""
    scored = []
    pairs = zip(arena.begins, episodes, strict=True)
    for number, (begin, episode) in enumerate(pairs):
        actions = [episode.mdp.actions[action] for action in episode.actions]
        with pursuits_of(begin) as pursuits:
            scored.append((str(number), pursuits.replayed(actions)))
    rng = generator(arena.sample, "meg-baselines", "verdict")
    return Randomisation.of(scored).p_value(rng) <= LEVEL
