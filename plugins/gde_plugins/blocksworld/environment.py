"""The blocks world as an environment."""

from collections import Counter
from collections.abc import Sequence

from gde.data.goals import Goals
from gde.data.json import Json
from gde.data.observation import Observation, Optimum, Outcome, State, Task, World
from gde.errors import GdeError
from gde.foreign import Account
from gde_plugins.blocksworld.arrangement import Action, Below, held, successors, towers
from gde_plugins.blocksworld.config import BlocksworldConfig
from gde_plugins.blocksworld.pddl import PddlError
from gde_plugins.blocksworld.planning import Planner
from gde_plugins.blocksworld.problem import Problem, facts, write_pddl
from gde_plugins.blocksworld.problems import (
    listed_problems,
    random_problem,
    redrawn,
)
from gde_plugins.blocksworld.wording import Words, draw


class BlocksworldEnvironment:
    """Implements `HasState`, `HasOptimum`, `HasDemonstration`, `HasGoals`,
    `HasSnapshot`, `HasWorlds` and `HasRemarks` of `gde.parts.environment`. A step earns 1 on reaching the goal and 0
    elsewhere.
    """

    def __init__(self, config: BlocksworldConfig) -> None:
        """Prepare to play random problems, or those of a folder.

        Raises:
            ConfigError: the folder cannot be used.
        """
        self._config = config
        self._listed = listed_problems(config.problems)
        self._played: Problem | None = None
        self._below: Below = ()

    def worlds(self) -> Sequence[str]:
        """Return the problems of the folder by path; empty if every seed is another
        problem.
        """
        return [f"{each.name} {each.digest}" for each in self._listed]

    def remarks(self) -> Sequence[str]:
        """Return how many problems of the folder cannot be read, and why."""
        unread: list[tuple[str, str]] = []
        for each in self._listed:
            try:
                each.parsed()
            except PddlError as error:
                unread.append((str(error), f"{each.name}:{error.line}"))
        n_read = len(self._listed) - len(unread)
        return [*Account(n_read, unread).told("env.problems")]

    def reset(self, seed: int) -> Observation:
        """Begin the random problem of this seed, or number `seed` (modulo their number)
        of the folder.

        Raises:
            GdeError: the problem cannot be used, or is solved.
        """
        self._candidates: list[Problem] = []
        if self._listed:
            problem = self._listed[seed % len(self._listed)].read()
        else:
            problem = random_problem(self._config, seed)
            self._candidates = [problem, *redrawn(self._config, problem, seed)]
        return self._enter(problem)

    def goals(self) -> Goals:
        """Return goals that are as many actions away as that of the problem.

        They are drawn as it was, and named by their conditions.

        Raises:
            GdeError: the problem comes from a folder.
        """
        if self._listed:
            raise GdeError(
                "problems of a folder have no generator to draw another goal: use random problems"
            )
        counts = Counter(each.aim for each in self._alike)
        # Their order must not tell which of them is the problem's own.
        ordered = {aim: counts[aim] for aim in sorted(counts)}
        return Goals.weighted(ordered, self._problem.aim)

    def set_goal(self, goal: str) -> Observation:
        """Begin again with another of these goals."""
        problems = {each.aim: each for each in self._alike}
        if goal not in problems:
            raise ValueError(
                f"wanted one of the goals {'; '.join(problems)}, got {goal!r}"
            )
        return self._enter(problems[goal])

    def _enter(self, problem: Problem) -> Observation:
        self._planner = Planner(problem.goal)
        # No optimal plan moves a block more than twice, with two actions each.
        self._distance = 4 * len(problem.blocks)
        if not problem.goal.impossible:
            self._distance = self._planner.distance(problem.start)
        if self._distance == 0:
            raise GdeError(
                f"problem {problem.name}: wanted one that is not solved yet, its goal holds at first"
            )
        self._played = problem
        self._words = Words(problem.terms, self._config.text)
        self._below = problem.start
        return self._observe()

    def task(self) -> Task:
        return Task(
            objective=self._words.objective(self._problem.conditions),
            rules=self._words.rules(),
            horizon=self._config.turns(self._distance),
        )

    def world(self) -> World:
        """Return the problem; the label `distance` is the length of an optimal plan."""
        problem = self._problem
        labels = {"blocks": len(problem.blocks)}
        if not problem.goal.impossible:
            labels["distance"] = self._distance
        return World(
            id=problem.id,
            facts={
                "name": problem.name,
                "pddl": write_pddl(problem),
                "objective": self.task().objective,
            },
            labels=labels,
        )

    def state(self) -> State:
        """Return the facts `towers`, each from the table up, `hand`, the block in it,
        and `view`.
        """
        names = self._problem.blocks
        named_towers: list[Json] = []
        for tower in towers(self._below):
            named_towers.append([names[block] for block in tower])
        in_hand = held(self._below)
        facts: dict[str, Json] = {
            "towers": named_towers,
            "hand": names[in_hand] if in_hand is not None else None,
            "view": draw(self._below, names),
        }
        return State(facts=facts)

    def optimum(self) -> Optimum:
        """Return all actions that begin an optimal plan, by exact search; every action
        costs 1.
        """
        if proof := self._problem.goal.impossible:
            return Optimum.out_of_reach(f"proof: {proof}")
        best = self._planner.optimal(self._below)
        value = -float(self._planner.distance(self._below))
        return Optimum(actions=self._texts(best), value=value, means="exact search")

    def demonstration(self) -> Sequence[str]:
        """Return an optimal plan from here.

        Raises:
            GdeError: there is none.
        """
        if proof := self._problem.goal.impossible:
            raise GdeError(f"problem {self._problem.name} cannot be solved: {proof}")
        return [*self._texts(self._planner.plan(self._below))]

    def step(self, action: str) -> Outcome:
        goal = self._problem.goal
        play_on = self._config.play_on
        if goal.holds(self._below) and not play_on:
            raise ValueError("the episode is over, the goal holds: call reset(seed)")
        choices = self._choices()
        if action not in choices:
            raise ValueError(
                f"the blocks world takes here {', '.join(choices)}; got {action!r}"
            )

        self._below = choices[action]
        reached = float(goal.holds(self._below))
        observation = self._observe()
        if reached and not play_on:
            return Outcome.terminal(observation, 1.0, success=1.0)
        return Outcome.running(observation, reached, success=reached)

    def snapshot(self) -> Below:
        return self._below

    def restore(self, snapshot: object) -> Observation:
        n_blocks = len(self._problem.blocks)
        if not isinstance(snapshot, tuple) or len(snapshot) != n_blocks:
            raise ValueError(f"wanted a snapshot of this episode, got {snapshot!r}")
        self._below = snapshot
        return self._observe()

    def reseed(self, seed: int) -> None:
        """Nothing is random."""

    def close(self) -> None:
        """Nothing to release."""

    @property
    def _alike(self) -> list[Problem]:
        """The drawn problems that are as many actions away as the present one."""
        alike = []
        for each in self._candidates:
            if Planner(each.goal).distance(each.start) == self._distance:
                alike.append(each)
        return alike

    @property
    def _problem(self) -> Problem:
        if self._played is None:
            raise GdeError(
                "the blocks world has no episode yet: call reset(seed) first"
            )
        return self._played

    def _texts(self, actions: Sequence[Action]) -> tuple[str, ...]:
        blocks = self._problem.blocks
        return tuple(self._words.text(action, blocks) for action in actions)

    def _choices(self) -> dict[str, Below]:
        """Return the possible actions, each with the arrangement that follows."""
        blocks = self._problem.blocks
        choices = {}
        for action, after in successors(self._below):
            choices[self._words.text(action, blocks)] = after
        return choices

    def _observe(self) -> Observation:
        text = self._words.facts(facts(self._below, self._problem.blocks))
        return Observation(text=text, actions=tuple(self._choices()))
