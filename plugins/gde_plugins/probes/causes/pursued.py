"""What an agent goes to: of the things that it sees, those whose place its way follows."""

from collections.abc import Iterator, Sequence

from gde.data.json import Labels
from gde.data.result import Measurement
from gde.data.verdict import ALPHA
from gde.numerics.episodes import unmeasured
from gde_plugins.probes.causes.effects import is_cause

NAME = "pursued"
BY = {"prompt": ("prompt",), "activations": ("patching", "steering")}
"""Where a thing is moved, with how the names of such changes begin. Ablations take away,
and tell nothing of where the way leads.
"""


def pursued(
    thing: str, found: Sequence[Measurement], n_things: int
) -> Iterator[Measurement]:
    """Whether the way follows a thing that is moved in the prompt, and in the activations:
    1 if any such change is a cause, with p values corrected for all of them and for the
    number of things.

    Args:
        thing: its name.
        found: what changes of it do, see `causal_effects`.
        n_things: tested things.
    """
    tests = [one for one in found if one.name == "p"]
    for by, kinds in BY.items():
        where: Labels = {"thing": thing, "by": by}
        own = [one for one in tests if str(one.where["change"]).startswith(kinds)]
        known = [one for one in own if one.n]
        if not known:
            reason = (own or found)[0].reason
            yield unmeasured(NAME, reason, where)
            continue
        # Holm has corrected each kind of change of each thing by itself.
        alpha = ALPHA / (n_things * len({one.where["change"] for one in known}))
        follows = any(is_cause(found, one.where, alpha) for one in known)
        yield Measurement(name=NAME, value=float(follows), n=known[0].n, where=where)
