"""Answers that do not read the world, as baselines of every score.

They read the instruction, the agent's first state and, at most, the list of things, but
no walls, no locks and nothing in the way.
"""

from collections.abc import Callable, Mapping, Sequence

from gde.seeding import generator
from gde_plugins.babyai.oracle.subgoals import Subgoal, of_mission, write
from gde_plugins.babyai.tasks.decompose import Decompose
from gde_plugins.babyai.tasks.parsing import END, PLAN_MARKER, START, STATE_MARKER
from gde_plugins.babyai.tasks.plan import PlanQuestion
from gde_plugins.babyai.tasks.predict import Predict
from gde_plugins.babyai.tasks.question import Question
from gde_plugins.babyai.worlds.scene import STEPS, Scene
from gde_plugins.babyai.worlds.simulation import Simulation

WALK = ("left", "right", "forward")
CHANCES = (0.25, 0.25, 0.5)
"""Probabilities of these actions in a random walk, which else would turn on the spot."""


def blind_answers(question: Question) -> Mapping[str, str]:
    """Return the answer of each baseline that the kind of question has, by name."""
    found = {}
    for kind, answers in ANSWERS.items():
        if isinstance(question, kind):
            for name, answer in answers.items():
                found[name] = answer(question)
    return found


def _state(text: str) -> str:
    return f"{STATE_MARKER} {text}"


def _counted(question: Predict) -> str:
    """Count turns and steps, as if no step were ever blocked."""
    x, y = question.scene.place(question.scene.agent)
    direction = question.scene.direction
    for action in question.actions:
        if action in WALK[:2]:
            direction = (direction + (1 if action == "right" else 3)) % 4
        elif action == "forward":
            columns, rows = STEPS[direction]
            x += columns
            y += rows
    return _state(str(((x, y), direction)))


def _plan(actions: Sequence[str]) -> str:
    return f"{PLAN_MARKER} {', '.join(actions)}"


def _straight(question: PlanQuestion) -> str:
    """Count the columns and rows to the target, as if nothing were in the way.

    The agent walks along the columns, then along the rows.
    """
    scene = question.scene
    x, y = scene.place(scene.agent)
    target_x, target_y = scene.place(question.target)
    direction = scene.direction
    actions: list[str] = []
    legs = ((target_x - x, 0), (0, target_y - y))
    for columns, rows in legs:
        n = abs(columns) + abs(rows)
        if n:
            wanted = STEPS.index((columns // n, rows // n))
            actions += _turns(direction, wanted) + ["forward"] * n
            direction = wanted
    # The last step would lead onto the target.
    return _plan(actions[:-1] or ["left"])


def _turns(direction: int, wanted: int) -> list[str]:
    turns = (wanted - direction) % 4
    return ["left"] if turns == 3 else ["right"] * turns


def _random_walk(question: PlanQuestion) -> str:
    """Walk at random for as many turns as the world allows."""
    scene = question.scene
    # The walk must not depend on what lies in the way.
    rng = generator(0, "random walk", scene.level, scene.seed, question.target)
    steps = rng.choice(WALK, size=scene.max_steps, p=CHANCES)
    return _plan([str(step) for step in steps])


def _list(subgoals: Sequence[Subgoal], scene: Scene) -> str:
    return "\n".join([START, *(write(each, scene) for each in subgoals), END])


def _everything(question: Decompose) -> str:
    """Go to every thing, row by row, and do with it whatever it allows."""
    scene = question.scene
    subgoals = []
    for cell, thing in enumerate(scene.cells):
        if thing >= 0:
            hand: tuple[Subgoal, ...] = (Subgoal("Pickup"), Subgoal("Drop"))
            if scene.doors[thing] >= 0:
                hand = (Subgoal("Open"),)
            subgoals += [Subgoal("GoNextTo", cell=cell), *hand]
    return _list(subgoals, scene)


def _translated(question: Decompose) -> str:
    """Translate the mission, with the first thing of each description."""
    scene = question.scene
    subgoals = []
    for each in reversed(of_mission(scene.mission, Simulation(scene).done)):
        if each.name == "GoNextTo":
            cell = _first_cell(each.things, scene)
            if cell < 0:
                continue
            subgoals.append(Subgoal("GoNextTo", cell=cell))
        else:
            subgoals.append(each)
    return _list(subgoals or [Subgoal("Drop")], scene)


def _first_cell(things: Sequence[int], scene: Scene) -> int:
    """Return the first cell, row by row, with one of some things; negative for none."""
    for cell, thing in enumerate(scene.cells):
        if thing in things:
            return cell
    return -1


ANSWERS: Mapping[type, Mapping[str, Callable[..., str]]] = {
    Predict: {"counter": _counted},
    PlanQuestion: {"counter": _straight, "random_walk": _random_walk},
    Decompose: {"list_all": _everything, "translate": _translated},
}
"""The baselines of each kind of question; the first is that of the agent by default."""
