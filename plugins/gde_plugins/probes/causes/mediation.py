"""Direct and indirect effects: does a change act on the answer or on the reasoning?

A model that reasons answers after its own text. A change may alter the text, which the
answer follows, or it may alter the answer beside the text. Each is measured without the
other (natural effects: Pearl 2001, Vig et al. 2020):

- direct: the change is made, and the reasoning is that of the unchanged model.
- indirect: no change is made, and the reasoning is that of the changed model.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gde.data.completion import ChatRequest, Completion
from gde.data.result import Measurement
from gde.errors import GdeError, RunFailed, Unavailable
from gde.numerics.episodes import unmeasured
from gde.numerics.stats import paired_difference
from gde.parts.language_model import WhiteBox
from gde_plugins.probes.causes.cases import (
    UNCHANGED,
    Actions,
    Answers,
    Case,
    Change,
    Read,
    actions_in,
    any_usable,
    changed_requests,
    gathered,
    predicted_shares,
)

AFTER_REASONING = "post"
"""The position of the tokens that close the reasoning."""
NAMES = ("direct", "indirect")
NO_REASONING = (
    "the model wrote no reasoning that could be held fixed; choose a higher effort"
)
NO_ANSWER = "no answer after the fixed reasoning was usable"
IGNORED = "the model ignores a prefill, so its reasoning cannot be held fixed"


@dataclass(frozen=True, kw_only=True)
class Mediated:
    """The actions of cases with and without a mediated change."""

    name: str
    """Of the measurement."""
    cases: Sequence[Case] = ()
    before: Actions = ()
    after: Actions = ()
    reason: str = ""
    """Reason why they tell nothing; empty if they do."""


@dataclass(frozen=True, kw_only=True)
class Mediation:
    """Answers of the cases after a reasoning that is held fixed."""

    model: WhiteBox
    cases: Sequence[Case]
    plain: Answers
    """Answers of the unchanged model."""
    before: Actions
    """Actions of these answers."""
    read: Read
    refusal: str
    """Reason why the model cannot be given a reasoning; empty if it can."""

    @classmethod
    async def of(
        cls,
        model: WhiteBox,
        cases: Sequence[Case],
        plain: Answers,
        before: Actions,
        read: Read,
    ) -> "Mediation":
        """Ask the model once whether it can be given a reasoning."""
        return cls(
            model=model,
            cases=cases,
            plain=plain,
            before=before,
            read=read,
            refusal=await _refusal(model, cases, plain),
        )

    async def ask(self, change: Change, changed: Answers) -> Sequence[Mediated]:
        """Ask for the answers that "direct" and "indirect" are measured by.

        Args:
            change: of the direct effect.
            changed: the answers with the change.
        """
        if self.refusal:
            return [Mediated(name=name, reason=self.refusal) for name in NAMES]
        plain = self.plain
        return await asyncio.gather(
            self._after("direct", change, changed, plain),
            self._after("indirect", UNCHANGED, plain, changed),
        )

    async def _after(
        self, name: str, change: Change, own: Answers, others: Answers
    ) -> Mediated:
        """Ask with a change after the reasoning of other answers.

        An answer without reasoning is left out, and one that reasons further.

        Args:
            name: of the measurement.
            change: made in the answers.
            own: the answers with the change after their own reasoning.
            others: the answers whose reasoning is taken.
        """
        requests = changed_requests(self.cases, change, len(own[0]))
        tasks = []
        for parallel in zip(requests, own, others, strict=True):
            samples = zip(*parallel, strict=True)
            tasks.append([_answer_after(self.model, *sample) for sample in samples])
        answers = await gathered(tasks)

        # What is left out is left out of both sides.
        cases = []
        before = []
        after = []
        for case, of_case, actions in zip(
            self.cases, answers, self.before, strict=True
        ):
            kept = [i for i, answer in enumerate(of_case) if answer is not None]
            if kept:
                cases.append(case)
                before.append([actions[i] for i in kept])
                after.append([answer for answer in of_case if answer is not None])
        if not cases:
            return Mediated(name=name, reason=NO_REASONING)

        actions_after = await actions_in(after, cases, self.read)
        reason = "" if any_usable(actions_after) else NO_ANSWER
        return Mediated(
            name=name, cases=cases, before=before, after=actions_after, reason=reason
        )


def mediated_effects(
    mediated: Sequence[Mediated], rng: np.random.Generator
) -> Iterator[Measurement]:
    """Measure increases of the share of predicted actions.

    Args:
        mediated: as `Mediation.ask` gives them.
        rng: for resampling.
    """
    for one in mediated:
        if one.reason:
            yield unmeasured(one.name, one.reason)
            continue
        difference = paired_difference(
            predicted_shares(one.after, one.cases),
            predicted_shares(one.before, one.cases),
            [case.world for case in one.cases],
            rng,
        )
        yield difference.estimate.measurement(one.name)


async def _answer_after(
    model: WhiteBox, request: ChatRequest, own: Completion, other: Completion
) -> Completion | None:
    """Answer a request after the reasoning of another answer; None without one."""
    if not other.reasoning:
        return None
    if AFTER_REASONING not in other.positions:
        # No answer can follow a reasoning that never ended. If there is one anyway, the
        # template is unknown.
        return None if other.text else other

    # The answer after the request's own reasoning is known.
    prefill = _up_to_answer(other)
    if _up_to_answer(own) == prefill:
        return own
    answer = await model.complete(replace(request, prefill=prefill))
    return answer if answer.reasoning == other.reasoning else None


def _up_to_answer(completion: Completion) -> tuple[int, ...]:
    """Return the tokens of a reasoning that ended; none of others."""
    if AFTER_REASONING not in completion.positions:
        return ()
    end = max(completion.positions[AFTER_REASONING]) + 1
    n_tokens = end - len(completion.prompt_tokens)
    return completion.tokens[:n_tokens]


async def _refusal(model: WhiteBox, cases: Sequence[Case], plain: Answers) -> str:
    """Return why a model cannot be given a reasoning; empty if it can."""
    requests = changed_requests(cases, UNCHANGED, len(plain[0]))
    for asked, written in zip(requests, plain, strict=True):
        prefill = _up_to_answer(written[0])
        if not prefill:
            continue
        try:
            answer = await model.complete(replace(asked[0], prefill=prefill))
        except (RunFailed, Unavailable):
            raise
        except GdeError as error:
            return str(error)
        begins_so = answer.tokens[: len(prefill)] == prefill
        return "" if begins_so else IGNORED
    return NO_REASONING
