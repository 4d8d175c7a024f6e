"""How often the verdicts of `cogmap` are false, and how often they find what is there.

`python tests/plugins/probes/simulated_verdicts.py NETWORKS` plays the first turns of 200
grid worlds with nano. Random networks of several architectures read them, and one more
of them takes the place of the model in as many comparisons as there are networks. A
verdict other than "no difference" is then false. Noise in place of activations is
compared with exchanged labels as well. For the power, the model is nano:plain, which
nobody taught a map. It prints the shares of comparisons in which any headline is called.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from gde.data.activations import CaptureRequest, TokenSequence
from gde.data.measure import Measures
from gde.data.plan import Choice, Plan
from gde.data.probe import Fit, ProbeDataset, ProbeReport
from gde.numerics.controls import MANY
from gde.request.catalogue import Catalogue
from gde.request.resolve import resolve
from gde.runs.evaluating import evaluate
from gde.seeding import generator
from gde.stages import learning
from gde.stages.alike_worlds import joined_clusters
from gde.stages.capturing import sequences
from gde.stages.context import Resources
from gde.stages.controls import EXCHANGES, exchanged
from gde.stages.evidence import Recorded
from gde.stages.learning import Learning
from gde.stages.probe_data import n_test_worlds
from gde.stages.verdicts import results
from gde.store.folder import RunFolder
from gde_plugins.probes import measures
from gde_plugins.probes.arrays import Floats
from gde_plugins.probes.config import CogmapConfig
from gde_plugins.probes.maps.probe import CogmapProbe

SIDE = 7
LAYER = 3
PROBE = CogmapProbe(CogmapConfig(size=SIDE))
NAME = "cogmap"
MEANINGS = Measures(
    tuple(one.under(NAME) for one in (*learning.MEASURES, *measures.MAP))
)
OURS = Fit(probe=NAME, variant="places", layer=LAYER, position="pre")
Network = Callable[[int], Floats]
"""Gives the activations (N, D) of a network from its seed."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Worlds:
    """The first turn of each of N worlds."""

    tokens: Sequence[TokenSequence]
    dataset: ProbeDataset
    """Without activations."""

    def report(
        self, inputs: Floats, draw: int = 0, shuffled: bool = False
    ) -> ProbeReport:
        """The report of a probe of these activations, as a run makes it."""
        dataset = replace(self.dataset, inputs=inputs)
        worlds = np.unique(dataset.groups)
        chosen = generator(0, "split").permutation(worlds)[: n_test_worlds(len(worlds))]
        held_out = np.isin(dataset.groups, chosen)
        train, test = dataset.take(~held_out), dataset.take(held_out)
        if shuffled:
            train = exchanged(train, generator(0, "control", draw))
        readout = PROBE.fit("places", train, generator(0))
        learned = Learning(
            probe=PROBE,
            fit=OURS,
            train=train,
            rows=[(world, 0) for world in train.groups],
            test=test,
            readout=readout,
            seed=0,
            meanings=MEANINGS,
        ).learn()
        scores = PROBE.turn_scores(readout.predict(test.inputs), test) | learned.scores
        return ProbeReport(
            fit=OURS,
            measurements=tuple(learned.measurements),
            n_train=len(train.groups),
            n_test=len(test.groups),
            rows=tuple((world, 0) for world in test.groups),
            decoded=np.zeros(0, np.float32),
            worlds=tuple(test.groups.tolist()),
            scores={name: one[None].astype(np.float32) for name, one in scores.items()},
            coded=learned.coded,
        )


def first_turns(folder: Path, n_worlds: int, model: str = "nano") -> RunFolder:
    """A run of one turn in each world."""
    world = {"size": SIDE, "density": 0.2, "horizon": 1}
    plan = Plan(
        environment=Choice(name="grid", config=world),
        agent=Choice(name="gpt-oss", config={"model": model}),
        metrics=["success"],
        episodes=n_worlds,
    )
    evaluate(plan, folder)
    return RunFolder.open(folder)


def read(run: RunFolder) -> Worlds:
    """The turns of a run with their maps."""
    ready = resolve(run.plan(), Catalogue.default())
    trajectories = Recorded(run.journal_path)
    found = list(sequences(trajectories, ready.agent_model))
    clusters = joined_clusters(trajectories)
    labels = {str(one.key): PROBE.labels(one) for one in trajectories}
    first = next(iter(labels.values()))
    dataset = ProbeDataset(
        inputs=np.zeros((len(found), 1), np.float32),
        labels=np.stack([labels[key].values[turn] for (key, turn), _ in found]),
        groups=np.array([clusters[key] for (key, _), _ in found]),
        classes=first.classes,
    )
    return Worlds(tokens=[sequence for _, sequence in found], dataset=dataset)


def captured(model: object, worlds: Worlds) -> Floats:
    """The activations of a white box, (N, D)."""
    request = CaptureRequest(layers=(LAYER,), positions=("pre",))
    records = model.capture(worlds.tokens, request)  # type: ignore[attr-defined]
    values = [record.values[LAYER, "pre"].ravel() for record in records]
    return np.stack(values).astype(np.float32)


def noise(worlds: Worlds, seed: int) -> Floats:
    """Activations that hold nothing."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((len(worlds.tokens), 384)).astype(np.float32)


def untrained(model: object, worlds: Worlds, seed: int) -> Floats:
    """The activations of nano's architecture (GPT-OSS) with random weights."""
    with closing(model.untrained(seed)) as random:  # type: ignore[attr-defined]
        return captured(random, worlds)


def of_architecture(name: str, worlds: Worlds, seed: int) -> Floats:
    """The activations of a random network of another architecture."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    from gde_plugins.language_models.capturing import Reader

    torch.manual_seed(seed)
    vocabulary = 1 + max(max(one.tokens) for one in worlds.tokens)
    config = AutoConfig.for_model(
        name,
        vocab_size=vocabulary,
        hidden_size=128,
        intermediate_size=256,
        num_hidden_layers=LAYER + 1,
        num_attention_heads=4,
        num_key_value_heads=4,
        head_dim=32,
    )
    model = AutoModelForCausalLM.from_config(config).eval()
    return captured(Reader(model, 1), worlds)


def called(ours: ProbeReport, controls: Sequence[ProbeReport], control: str) -> bool:
    """Whether any headline is said to differ from a control."""
    return any(verdicts(ours, controls, control))


def verdicts(
    ours: ProbeReport, controls: Sequence[ProbeReport], control: str
) -> Iterator[bool]:
    """Whether each headline is said to differ."""
    first = controls[0]
    scores = {
        name: np.concatenate([one.scores[name] for one in controls])
        for name in first.scores
    }
    codes = {
        name: np.concatenate([one.coded.scores[name] for one in controls])
        for name in first.coded.scores
    }
    fit = replace(first.fit, control=control)  # type: ignore[arg-type]
    coded = replace(first.coded, scores=codes)
    theirs = replace(first, fit=fit, scores=scores, coded=coded)
    for one in results([ours, theirs], MEANINGS, seed=0):
        if one.where["control"] == "none" and one.verdict is not None:
            yield one.verdict.outcome in ("better", "worse")


def false_share(reports: Sequence[ProbeReport], draws: int = MANY) -> float:
    """The share of comparisons with a false verdict, each network once the model."""
    rng = np.random.default_rng(0)
    n_false = 0
    for i, ours in enumerate(reports):
        others = rng.permutation(np.delete(np.arange(len(reports)), i))[:draws]
        n_false += called(ours, [reports[j] for j in others], "untrained")
    return n_false / len(reports)


def found_share(ours: ProbeReport, reports: Sequence[ProbeReport], draws: int) -> float:
    """The share of draws of initialisations in which a model is called."""
    rng = np.random.default_rng(1)
    chosen = [rng.permutation(len(reports))[:draws] for _ in range(100)]
    return float(
        np.mean(
            [called(ours, [reports[j] for j in each], "untrained") for each in chosen]
        )
    )


def main(n_networks: int) -> None:
    """Print the shares."""
    with TemporaryDirectory() as folder:
        run = first_turns(Path(folder) / "nano", 200)
        worlds = read(run)
        ready = resolve(run.plan(), Catalogue.default())
        model = Resources(ready).models.white_box(ready.agent_model)
        plain = read(first_turns(Path(folder) / "plain", 200, "nano:plain"))
        ready = resolve(
            RunFolder.open(Path(folder) / "plain").plan(), Catalogue.default()
        )
        untaught = Resources(ready).models.white_box(ready.agent_model)
        taught = {
            "nano": worlds.report(captured(model, worlds)),
            "nano:plain": plain.report(captured(untaught, plain)),
        }
        networks: dict[str, Network] = {
            "GPT-OSS (nano)": partial(untrained, model, worlds),
            "Llama": partial(of_architecture, "llama", worlds),
            "Qwen3": partial(of_architecture, "qwen3", worlds),
            "noise": partial(noise, worlds),
        }
        for name, network in networks.items():
            reports = [worlds.report(network(seed)) for seed in range(n_networks)]
            shares = [f"K {K}: {false_share(reports, K):.3f}" for K in (5, 10, MANY)]
            sys.stdout.write(f"{name}, false: {', '.join(shares)}\n")
            sys.stdout.flush()
            if name.startswith("GPT-OSS"):
                for whose, ours in taught.items():
                    powers = [
                        f"K {K}: {found_share(ours, reports, K):.2f}" for K in (5, MANY)
                    ]
                    sys.stdout.write(f"{whose}, found: {', '.join(powers)}\n")
        exchanges = [exchanged_share(worlds, seed) for seed in range(n_networks)]
        sys.stdout.write(f"noise, exchanged labels, false: {np.mean(exchanges):.3f}\n")


def exchanged_share(worlds: Worlds, seed: int) -> bool:
    """Whether noise is said to differ from noise with exchanged labels."""
    inputs = noise(worlds, seed)
    controls = [
        worlds.report(inputs, draw=EXCHANGES * seed + draw, shuffled=True)
        for draw in range(EXCHANGES)
    ]
    return called(worlds.report(inputs), controls, "shuffled")


if __name__ == "__main__":
    main(int(sys.argv[1]))
