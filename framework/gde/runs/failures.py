"""What failed in the stages of a run before its metrics."""

from collections.abc import Iterator, Sequence

from gde.data.evidence import Evidence
from gde.data.probe import ProbeReport
from gde.data.result import Failure
from gde.request.ready import Ready
from gde.store.journal import REASON, Journal


def failures_before(
    journal: Journal, ready: Ready, evidence: Evidence
) -> list[Failure]:
    """List what failed in the stages before the metrics, with tracebacks."""
    episodes = journal.failed_episodes()
    left = journal.unfinished()
    fitted = journal.probes()
    tracebacks = journal.tracebacks()

    found = [("rollout", episode, reason) for episode, reason in episodes]
    if left:
        found.append(("rollout", "run", left))
    for trace in evidence.reward_traces:
        if trace.failure:
            found.append(("reward", f"{trace.model} on {trace.episode}", trace.failure))
    for subject, reason in _failed_fits(evidence.probe_reports):
        found.append(("probe", subject, reason))
    for chosen in ready.probes:
        if not chosen.absent and chosen.label not in fitted:
            reason = "probe not fitted; resume with `gde resume`"
            found.append(("probe", chosen.label, reason))

    # The first failure with a reason has the traceback of all of them.
    return [
        Failure(
            stage=stage,
            subject=subject,
            reason=reason,
            traceback=tracebacks.pop(reason[:REASON], ""),
        )
        for stage, subject, reason in found
    ]


def _failed_fits(reports: Sequence[ProbeReport]) -> Iterator[tuple[str, str]]:
    """Yield fits without numbers, and probes that could not read every turn."""
    measured = {report.fit.probe for report in reports if not report.reason}
    unread: dict[str, str] = {}
    for report in reports:
        is_known = report.absent and report.fit.probe in measured
        if report.reason and not is_known:
            yield report.fit.name, report.reason
        elif report.unread:
            unread[report.fit.probe] = report.unread
    yield from unread.items()
