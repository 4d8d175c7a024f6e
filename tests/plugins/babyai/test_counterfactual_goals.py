"""Counterfactual missions: another thing of the same rooms."""

import pytest

from gde.errors import GdeError
from gde.testing import check_environment
from gde_plugins.babyai.config import BabyAIConfig
from gde_plugins.babyai.environment import BabyAIEnvironment


@pytest.mark.parametrize("level", ["GoToLocalS6N3", "Pickup"])
def test_the_contract_holds(level: str) -> None:
    check_environment(
        lambda: BabyAIEnvironment(BabyAIConfig(level=level, search=50)),
        seeds=(1, 2),
        turns=3,
    )


def test_another_target_ends_the_episode() -> None:
    environment = BabyAIEnvironment(BabyAIConfig())
    environment.reset(0)
    goals = environment.goals()
    for target in goals.probabilities:
        environment.set_goal(target)
        assert environment.task().objective.endswith(target)
        success = 0.0
        optimum = environment.optimum()
        while optimum and optimum.actions:
            success = environment.step(optimum.actions[0]).success or 0.0
            optimum = environment.optimum()
        assert success == 1


def test_look_alikes_are_one_target_as_likely_as_they_are_many() -> None:
    environment = BabyAIEnvironment(BabyAIConfig())
    environment.reset(0)
    goals = environment.goals()
    things = environment.now.scene.things
    for target, chance in goals.probabilities.items():
        n_alike = sum(str(thing) == target for thing in things)
        assert chance == pytest.approx(n_alike / len(things))


def test_a_level_that_places_its_target_first_says_so() -> None:
    environment = BabyAIEnvironment(BabyAIConfig(level="GoToRedBall"))
    environment.reset(0)
    with pytest.raises(GdeError, match="does not draw its target alone"):
        environment.goals()
