"""The turns that probes are fitted to and scored on, with activations and labels."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from gde.data.activations import ActivationTable
from gde.data.arrays import Bools, Doubles, Indices, Ints
from gde.data.grouping import grouped
from gde.data.probe import Fit, InputForm, ProbeDataset, ProbeLabels
from gde.data.trajectory import Trajectory
from gde.errors import GdeError
from gde.parts.probe import Probe, input_form, reads_one_turn
from gde.seeding import generator, pick
from gde.stages.alike_worlds import joined_clusters
from gde.stages.fits import MODEL, of_weights
from gde.stages.prompts import Prompt, packed
from gde.store.activations import ActivationStore, Row
from gde.store.folder import RunFolder
from gde.store.journal import Journal
from gde.store.replays import read_replays

TEST_SHARE = 0.3
Labelled = dict[str, ProbeLabels]
"""Episode to the labels of its turns."""


def n_test_worlds(n_worlds: int) -> int:
    """The number of worlds that no probe is fitted to."""
    return max(1, round(TEST_SHARE * n_worlds))


@dataclass(kw_only=True)
class Said:
    """The positions of all turns that can be replayed."""

    n_turns: int = 0
    positions: set[str] = field(default_factory=set)
    reasoned: bool = False
    """Whether any of their completions has reasoning."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Turns:
    """N turns with activations of one source."""

    table: ActivationTable
    form: InputForm
    """In which the probe takes activations."""
    labels: Ints | Doubles
    """(N, ...)."""
    groups: NDArray[np.str_]
    """(N,) worlds."""
    classes: tuple[str, ...]
    counts: Bools
    """(N,) True for the turns that a probe is fitted to and scored on."""
    held_out: Bools
    """(N,) True for turns of test worlds."""

    @property
    def is_trained(self) -> Bools:
        """(N,) True for the turns that a probe is fitted to."""
        return ~self.held_out & self.counts

    @property
    def is_tested(self) -> Bools:
        """(N,) True for the turns that it is scored on."""
        return self.held_out & self.counts

    @property
    def rows(self) -> Sequence[Row]:
        """(episode, turn) of each."""
        return self.table.rows

    def take(self, chosen: Indices) -> ProbeDataset:
        """What the probe reads in some turns, whose activations are read now."""
        tokens = self.form == "tokens"
        read = self.table.padded if tokens else self.table.concatenated
        return ProbeDataset(
            inputs=read(chosen),
            labels=self.labels[chosen],
            groups=self.groups[chosen],
            classes=self.classes,
        )

    def rows_of(self, chosen: Bools) -> list[Row]:
        """The rows of some turns (N,)."""
        return [self.rows[place] for place in np.flatnonzero(chosen).tolist()]

    def apart_from(self, trained: "Turns") -> "Turns":
        """These turns, where all worlds are held out that another run has not trained
        on.
        """
        worlds = trained.groups[~trained.held_out]
        return replace(self, held_out=~np.isin(self.groups, worlds))


@dataclass(kw_only=True)
class ProbeData:
    """The turns of a run, on one split of its worlds."""

    trajectories: Sequence[Trajectory]
    folder: RunFolder
    seed: int
    weights: str = ""
    """As of `ProbeStage`."""
    _labelled: dict[int, Labelled] = field(default_factory=dict)
    """The labels of each probe (by its id), which all of its fits share."""
    _prompts: dict[Row, Prompt] = field(default_factory=dict)
    _chosen: dict[tuple[int, str], set[Row]] = field(default_factory=dict)
    """The turns that count for probes of one turn, by layer and position."""

    def turns(self, probe: Probe, fit: Fit, table: ActivationTable) -> Turns:
        """The turns of a table with what a probe reads in them."""
        episodes = {episode for episode, _ in table.rows}
        labels = self._labels(probe, episodes)
        of_turns = [labels[episode].values[turn] for episode, turn in table.rows]
        worlds = np.array([self._worlds[episode] for episode, _ in table.rows])
        return Turns(
            table=table,
            form=input_form(probe),
            labels=np.stack(of_turns),
            groups=worlds,
            classes=dataset_classes(labels, episodes),
            counts=self._counting(probe, fit, table.rows),
            held_out=np.isin(worlds, self._test_worlds),
        )

    def table(self, source: str, fit: Fit) -> ActivationTable | None:
        """The activations of a source where a fit reads; None without any."""
        # Opened here, because a connection belongs to one thread.
        with closing(Journal.open(self.folder.journal_path, write=False)) as journal:
            store = ActivationStore(self.folder.activations, journal)
            own = of_weights(source, self.weights)
            return store.table(own, fit.layer, fit.position)

    def prompts(self, rows: Sequence[Row]) -> list[Prompt]:
        """The prompts of some turns.

        Raises:
            GdeError: the tokens of one are not known.
        """
        if set(rows) - self._prompts.keys():
            self._prompts.update(self._read_prompts({episode for episode, _ in rows}))
        unknown = set(rows) - self._prompts.keys()
        if unknown:
            raise GdeError(
                f"the tokens of the prompt are not known in {len(unknown)} of {len(rows)} turns"
            )
        return [self._prompts[row] for row in rows]

    def _read_prompts(self, episodes: set[str]) -> Iterator[tuple[Row, Prompt]]:
        with closing(Journal.open(self.folder.journal_path, write=False)) as journal:
            for trajectory in self.trajectories:
                episode = str(trajectory.key)
                if episode not in episodes:
                    continue
                replays = read_replays(journal, self.weights, episode)
                for turn in trajectory.turns:
                    completion = turn.decision.completion
                    if completion is not None and completion.prompt_tokens:
                        yield (episode, turn.index), packed(completion.prompt_tokens)
                for index, replay in replays.items():
                    # The answer follows the tokens that close the prompt.
                    if "pre" in replay.positions:
                        n_prompt = replay.positions["pre"][-1] + 1
                        yield (episode, index), packed(replay.tokens[:n_prompt])

    def _counting(self, probe: Probe, fit: Fit, rows: Sequence[Row]) -> Bools:
        """(N,) True for the turns that a probe is fitted to and scored on."""
        if not reads_one_turn(probe):
            return np.ones(len(rows), dtype=np.bool_)
        place = fit.layer, fit.position
        if place not in self._chosen:
            path = self.folder.journal_path
            with closing(Journal.open(path, write=False)) as journal:
                store = ActivationStore(self.folder.activations, journal)
                every = store.stored(of_weights(MODEL, self.weights), *place)
            self._chosen[place] = one_turn_of_each(every, self._worlds, self.seed)
        chosen = self._chosen[place]
        return np.array([row in chosen for row in rows], dtype=np.bool_)

    def _labels(self, probe: Probe, episodes: set[str]) -> Labelled:
        known = self._labelled.setdefault(id(probe), {})
        missing = episodes - known.keys()
        if not missing:
            # The trajectories need not be read.
            return known
        for trajectory in self.trajectories:
            episode = str(trajectory.key)
            if episode in missing:
                known[episode] = probe.labels(trajectory)
        return known

    @cached_property
    def _worlds(self) -> Mapping[str, str]:
        """The cluster of each episode, which no split parts."""
        return joined_clusters(self.trajectories)

    @cached_property
    def _test_worlds(self) -> NDArray[np.str_]:
        """The held-out worlds: drawn from all worlds of the run, hence the same for
        every fit.
        """
        worlds = np.unique(list(self._worlds.values()))
        shuffled = generator(self.seed, "split").permutation(worlds)
        chosen: NDArray[np.str_] = shuffled[: n_test_worlds(len(worlds))]
        return chosen

    @cached_property
    def said(self) -> Said:
        """The positions of all turns that can be replayed."""
        found = Said()
        with closing(Journal.open(self.folder.journal_path, write=False)) as journal:
            for trajectory in self.trajectories:
                replays = read_replays(journal, self.weights, str(trajectory.key))
                for turn in trajectory.turns:
                    completion = turn.decision.completion
                    if completion is None:
                        continue
                    read = replays.get(turn.index)
                    positions = read.positions if read else completion.positions
                    if positions:
                        found.n_turns += 1
                        found.positions.update(positions)
                        found.reasoned |= bool(completion.reasoning)
        return found


def dataset_classes(labels: Labelled, episodes: set[str]) -> tuple[str, ...]:
    """The classes of the labels of all episodes.

    Raises:
        GdeError: the classes differ from episode to episode.
    """
    episode_with = {labels[episode].classes: episode for episode in sorted(episodes)}
    if len(episode_with) > 1:
        differing = []
        for classes, episode in episode_with.items():
            named = ", ".join(classes) or "none"
            differing.append(f"{named} in episode {episode}")
        raise GdeError(
            f"a probe's classes must be the same in all episodes of a run, got {'; '.join(differing)}"
        )
    (classes,) = episode_with
    return classes


def conditions_of(rows: Sequence[Row]) -> Indices:
    """(N,) the condition of each turn, which the key of its episode begins with."""
    found = [int(episode.partition("/")[0]) for episode, _ in rows]
    return np.array(found, dtype=np.intp)


def one_turn_of_each(
    rows: Iterable[Row], worlds: Mapping[str, str], seed: int
) -> set[Row]:
    """A random turn of each world in each condition.

    Args:
        rows: all turns.
        worlds: the cluster of each episode.
        seed: of the run.
    """
    of_worlds = grouped(sorted(rows), lambda row: worlds[row[0]])
    chosen = set()
    for world, turns in of_worlds.items():
        rng = generator(seed, "turn", world)
        for own in grouped(turns, lambda row: row[0].partition("/")[0]).values():
            chosen.add(pick(own, rng))
    return chosen
