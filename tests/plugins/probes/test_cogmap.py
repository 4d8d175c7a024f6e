"""The cogmap probe keeps the contract of `gde.parts.probe`."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError

from gde.data.activations import CaptureRequest
from gde.data.cell_map import KINDS, decoded_classes
from gde.data.completion import ModelInfo
from gde.data.observation import State, World
from gde.data.probe import ProbeDataset
from gde.data.trajectory import Trajectory
from gde.errors import GdeError
from gde.parts.probe import Probe, Readout, orders_of, reads_one_turn
from gde.testing.context import PlainContext
from gde.testing.episodes import Move, episode_of
from gde_plugins.probes.config import CogmapConfig, MapVariant, ProbeConfig
from gde_plugins.probes.maps.probe import CogmapProbe, CogmapReadout
from gde_plugins.probes.plugin import gde_probes

CLASSES = decoded_classes(KINDS)
EMPTY, AGENT, GOAL, WALL, PAD = range(5)

SMALL = CogmapConfig(size=7, hidden=64, epochs=40, batch=16)


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def trajectory(*agents: tuple[int, int] | None) -> Trajectory:
    """A walk through a room of 3 rows and 4 columns, with the goal in the lower right;
    None is an unrecorded state.
    """
    world = World(
        id="room", facts={"rows": ["#####", "#___#", "#_#_#", "#####"], "goal": [2, 3]}
    )
    states = (
        State(facts={"agent": list(agent)}) if agent else None for agent in agents
    )
    return episode_of(
        [Move(action="LEFT", state=state) for state in states], world=world, index=3
    )


def test_labels_are_the_padded_true_grid_of_every_turn() -> None:
    labels = CogmapProbe(SMALL).labels(trajectory((1, 1), (1, 2))).values
    assert labels.shape == (2, 7, 7)
    assert [np.argwhere(turn == AGENT).tolist() for turn in labels] == [
        [[1, 1]],
        [[1, 2]],
    ]
    assert (labels[:, 2, 3] == GOAL).all()
    assert (labels[:, 4:] == PAD).all()
    assert (labels[:, :, 5:] == PAD).all()
    assert CogmapProbe(SMALL).labels(trajectory()).values.shape == (0, 7, 7)


def test_a_grid_larger_than_the_decoded_square_is_named() -> None:
    with pytest.raises(
        GdeError,
        match=r"cogmap: turn 0 of episode 0/3/0: a 4x5 map does not fit into 4x4; .* size is 4",
    ):
        CogmapProbe(replace(SMALL, size=4)).labels(trajectory((1, 1)))


def test_a_turn_without_a_state_is_named() -> None:
    with pytest.raises(GdeError, match="turn 1 of episode 0/3/0 has no recorded state"):
        CogmapProbe(SMALL).labels(trajectory((1, 1), None))


@pytest.mark.parametrize(
    ("layer", "n_layers", "index"),
    [
        ("early", 24, 7),
        ("middle", 24, 15),
        ("late", 24, 23),
        ("middle", 6, 3),
        ("early", 1, 0),
        ("late", 4, 3),
        (2, 4, 2),
    ],
)
def test_depth_is_counted_in_thirds_of_the_layers(
    layer: Any, n_layers: int, index: int
) -> None:
    config = ProbeConfig(layer=(layer,), positions=("post",))
    assert config.capture(ModelInfo(name="m", n_layers=n_layers)) == CaptureRequest(
        layers=(index,), positions=("post",)
    )


@pytest.mark.parametrize(
    ("layer", "n_layers", "indices"),
    [("all", 3, (0, 1, 2)), ("all", 1, (0,)), (["late", "all", 0], 3, (2, 0, 1))],
)
def test_all_layers_are_each_read_once(
    layer: Any, n_layers: int, indices: tuple[int, ...]
) -> None:
    config = TypeAdapter(ProbeConfig).validate_python({"layer": layer})
    assert config.capture(ModelInfo(name="m", n_layers=n_layers)).layers == indices


def test_layers_that_a_model_lacks_are_refused() -> None:
    with pytest.raises(
        GdeError,
        match=r"model 'm' has layers 0 to 3 or one of early, middle, late, all, got 4",
    ):
        ProbeConfig(layer=(4,)).capture(ModelInfo(name="m", n_layers=4))
    with pytest.raises(GdeError, match="model 'm' gives none"):
        ProbeConfig().capture(ModelInfo(name="m"))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"positions": ()}, "positions: at least one and each once"),
        ({"variants": ("mlp", "mlp")}, "variants: at least one and each once"),
        ({"layer": -1}, "greater than or equal to 0"),
        (
            {"variants": ("forest",)},
            "'places', 'mlp', 'linear', 'bilinear', 'cellwise' or 'ridge'",
        ),
        ({"turns": "first"}, "'one' or 'all'"),
        ({"size": 2}, "greater than or equal to 3"),
        ({"penalties": ()}, "at least 1 item"),
        ({"penalties": 0}, "greater than 0"),
    ],
)
def test_configurations_out_of_range_are_refused(
    values: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValidationError, match=message):
        TypeAdapter(CogmapConfig).validate_python(values)


def test_the_probe_measures_what_is_planted(
    planted: Callable[[int, int], ProbeDataset],
) -> None:
    probe, train, test = CogmapProbe(SMALL), planted(300, 1), planted(60, 2)
    scores = {
        m.name: m.value
        for m in probe.score(probe.fit("mlp", train, rng()), test, rng())
    }
    blind = replace(train, inputs=np.zeros_like(train.inputs))
    control = {
        m.name: m.value
        for m in probe.score(probe.fit("mlp", blind, rng()), test, rng())
    }
    for name in ("distance.agent", "distance.goal"):
        assert (scores[name] or 0) < 0.5
        assert (control[name] or 0) > 1.5
    # Coordinates alone know the padding and the outer wall, which is why accuracy says
    # little.
    assert (control["accuracy"] or 0) > 0.4


@pytest.mark.parametrize("variant", get_args(MapVariant))
def test_a_readout_is_rebuilt_from_its_arrays(
    planted: Callable[[int, int], ProbeDataset], variant: str
) -> None:
    data = planted(5, 1)
    readout = CogmapProbe(SMALL).fit(variant, data, rng())
    assert isinstance(readout, Readout)
    arrays = readout.arrays()
    assert {array.dtype for array in arrays.values()} == {np.dtype(np.float32)}
    decoded = readout.predict(data.inputs)
    assert decoded.shape == (5, 7, 7, 5)
    assert decoded.dtype == np.float32
    assert (
        CogmapReadout.from_arrays(variant, arrays).predict(data.inputs) == decoded
    ).all()


@pytest.mark.parametrize("variant", get_args(MapVariant))
def test_fitting_is_a_function_of_the_generator(
    planted: Callable[[int, int], ProbeDataset], variant: str
) -> None:
    data, probe = planted(5, 1), CogmapProbe(SMALL)
    first, again = (
        probe.fit(variant, data, rng()).predict(data.inputs) for _ in range(2)
    )
    assert (first == again).all()


@pytest.mark.parametrize("variant", get_args(MapVariant))
def test_classes_never_trained_on_have_probability_zero(
    planted: Callable[[int, int], ProbeDataset], variant: str
) -> None:
    data = planted(3, 1)
    walls = replace(data, labels=np.full_like(data.labels, WALL))
    decoded = CogmapProbe(SMALL).fit(variant, walls, rng()).predict(data.inputs)
    assert (decoded[..., WALL] == 1).all()
    assert decoded.sum() == decoded[..., WALL].sum()


@pytest.mark.parametrize("variant", ["places", "bilinear"])
def test_of_a_class_never_trained_on_there_is_a_reason(
    planted: Callable[[int, int], ProbeDataset], variant: str
) -> None:
    data, probe = planted(6, 1), CogmapProbe(SMALL)
    no_goals = replace(data, labels=np.where(data.labels == GOAL, EMPTY, data.labels))
    found = {
        one.name: one
        for one in probe.score(probe.fit(variant, no_goals, rng()), data, rng())
    }
    nothing = {
        name
        for name, one in found.items()
        if one.value is None and not name.endswith(".wall")
    }
    assert nothing == {name for name in found if name.endswith(".goal")}
    assert found["top1.goal"].reason == "no goal cell in the grids that were trained on"


@pytest.mark.parametrize("variant", get_args(MapVariant))
def test_activations_that_are_not_finite_are_refused_by_row(
    planted: Callable[[int, int], ProbeDataset], variant: str
) -> None:
    data, probe = planted(4, 1), CogmapProbe(SMALL)
    broken = data.inputs.copy()
    broken[2, 5] = np.inf
    with pytest.raises(ValueError, match="undefined value in row 2"):
        probe.fit(variant, replace(data, inputs=broken), rng())
    with pytest.raises(ValueError, match="undefined value in row 2"):
        probe.fit(variant, data, rng()).predict(broken)


def test_the_plugin_offers_probes() -> None:
    offers = {offer.name: offer for offer in gde_probes()}
    assert offers.keys() == {"cogmap", "distance", "plan"}
    for offer in offers.values():
        assert isinstance(offer.made(offer.config(), PlainContext()), Probe)
        assert not offer.missing()


def test_by_default_the_reader_is_fitted_to_one_turn_of_each_world() -> None:
    probe = CogmapProbe(CogmapConfig())
    assert probe.variants == ("places",)
    assert reads_one_turn(probe)
    assert not reads_one_turn(CogmapProbe(CogmapConfig(turns="all")))


@pytest.mark.parametrize(
    ("variants", "orders"),
    [
        (("places",), 5),
        (("ridge", "places"), 5),
        (("mlp",), 1),
        (("places", "bilinear"), 1),
    ],
)
def test_worlds_are_learned_in_several_orders_where_all_fits_are_in_closed_form(
    variants: tuple[MapVariant, ...], orders: int
) -> None:
    assert orders_of(CogmapProbe(CogmapConfig(variants=variants))) == orders


@pytest.mark.parametrize("variant", ["bilinear", "cellwise"])
def test_linear_probes_of_places_find_what_the_papers_linear_probe_cannot(
    planted: Callable[[int, int], ProbeDataset], variant: str
) -> None:
    probe, train, test = CogmapProbe(SMALL), planted(600, 1), planted(100, 2)
    scores = {
        each: {
            m.name: m.value or 0
            for m in probe.score(probe.fit(each, train, rng()), test, rng())
        }
        for each in (variant, "linear")
    }
    assert scores[variant]["top1.agent"] > 0.85
    assert scores["linear"]["top1.agent"] < 0.3
    assert scores[variant]["auc.agent"] > 0.95


def test_what_a_reader_without_activations_would_say_is_measured_beside(
    planted: Callable[[int, int], ProbeDataset],
) -> None:
    probe, train, test = CogmapProbe(SMALL), planted(200, 1), planted(50, 2)
    scores = {
        m.name: m.value or 0
        for m in probe.score(probe.fit("bilinear", train, rng()), test, rng())
    }
    inside = (test.labels[:, 1:-1, 1:-1] != PAD) & (test.labels[:, 1:-1, 1:-1] != WALL)
    empty = (test.labels[:, 1:-1, 1:-1] == EMPTY) & inside
    assert scores["accuracy.interior.constant"] == pytest.approx(
        empty.sum() / inside.sum(), abs=0.02
    )
    assert scores["recall.macro.constant"] == pytest.approx(1 / 4)
    assert scores["accuracy.grid.majority"] > 0.8
