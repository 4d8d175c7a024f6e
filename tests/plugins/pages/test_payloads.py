"""Two hundred attempts to run a script or send a request, through every text of a run,
in a real browser.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from browser import browse

from gde.data.completion import Completion
from gde.data.evidence import Evidence
from gde.data.measure import Measure
from gde.data.observation import Observation, State, World
from gde.data.plan import Choice, Plan
from gde.data.result import Failure, Measurement, Result, Subject
from gde.data.trajectory import Decision, Trajectory
from gde_plugins.pages.run_page import HtmlReporter

DUMP = ("--virtual-time-budget=3000", "--dump-dom")
"""The page after its scripts have run."""
ACTS = (
    '<script>fetch("URL")</script>',
    "<script src=URL></script>",
    "<img src=URL>",
    "<img src=x onerror=fetch('URL')>",
    "<svg onload=fetch('URL')>",
    "<svg><script href=URL /></svg>",
    "<svg><image href=URL /></svg>",
    "<iframe src=URL></iframe>",
    "<iframe srcdoc='<script>fetch(`URL`)</script>'></iframe>",
    "<link rel=stylesheet href=URL>",
    "<link rel=prefetch href=URL>",
    "<style>@import 'URL';</style>",
    "<style>body{background:url(URL)}</style>",
    "<p style=background:url(URL)>x</p>",
    "<object data=URL></object>",
    "<embed src=URL>",
    "<video src=URL autoplay></video>",
    "<audio src=URL autoplay></audio>",
    "<base href=URL><img src=y>",
    "<meta http-equiv=refresh content='0;url=URL'>",
    "<body onload=fetch('URL')>",
    "<details open ontoggle=fetch('URL')><summary>x</summary></details>",
    "<input autofocus onfocus=fetch('URL')>",
    " autofocus tabindex=0 onfocus=fetch('URL') x=",
    ";fetch('URL');//",
)
OPENINGS = (
    "",
    '">',
    "'>",
    "--></script>",
    "</style></title></textarea>",
    "]]></template></pre>",
    "\\u003c/script>\\",
    "`${",
)
"""What may end the place that a payload stands in."""


def payloads(url: str) -> list[str]:
    """All of them, each with an address of its own."""
    every = [opening + act for opening in OPENINGS for act in ACTS]
    return [each.replace("URL", f"{url}/{i}") for i, each in enumerate(every)]


@contextmanager
def listening(seen: list[str]) -> Iterator[str]:
    """The address of a server that notes what is asked of it."""

    class Notes(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.path)
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nothing is printed."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Notes)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def attacked(
    some: list[str], result: Result, evidence: Evidence
) -> tuple[Plan, Result, Evidence]:
    """A run that says nothing but payloads: each in every text that is shown."""
    first, one = evidence.trajectories[0], some[0]
    turns = tuple(
        replace(
            first.turns[0],
            index=i,
            observation=Observation(text=each, actions=(each,)),
            decision=Decision.act(
                each,
                Completion(text=each, reasoning=each, finish="stop", answered_by=each),
            ),
            optimal=(each,),
            state=State(facts={"view": each, each: each}),
        )
        for i, each in enumerate(some)
    )
    episodes: list[Trajectory] = [
        replace(
            first,
            turns=turns,
            world=World(id=each, facts={"view": each}, labels={"kind": each}),
            failure=each,
        )
        for each in some[:2]
    ]
    hostile = replace(
        result,
        failures=tuple(Failure(stage=each, subject=each, reason=each) for each in some),
        subject=Subject(agent=one, environment=some[1], model=some[2]),
        measures=tuple(
            Measure(name=each, title=each, group=each, headline=True, phrase=each)
            for each in some
        ),
        measurements=tuple(
            Measurement(
                name=each, value=1.0, unit=each, n=1, where={each: each}, source=each
            )
            for each in some
        ),
        provenance={"notice": one, **{each: {each: each} for each in some}},
    )
    plan = Plan(
        environment=Choice(name=one, config={one: one}), agent=Choice(name=some[1])
    )
    return plan, hostile, replace(evidence, trajectories=tuple(episodes))


@pytest.mark.slow
@pytest.mark.outside
@pytest.mark.timeout(900)
def test_no_text_of_a_run_becomes_a_script_or_a_request(
    result: Result, evidence: Evidence, tmp_path: Path
) -> None:
    seen: list[str] = []
    with listening(seen) as url:
        every, each_page = payloads(url), 12
        assert len(every) == 200
        for start in range(0, len(every), each_page):
            folder = tmp_path / str(start)
            folder.mkdir()
            some = every[start : start + each_page]
            path = HtmlReporter().render(*attacked(some, result, evidence), folder)
            shown = browse(path.as_uri(), tmp_path, *DUMP, timeout=200)
            assert seen == [], some
            assert "gde report</title>" in shown


@pytest.mark.slow
@pytest.mark.outside
def test_the_payloads_do_what_they_say_where_nothing_keeps_them_from_it(
    tmp_path: Path,
) -> None:
    seen: list[str] = []
    with listening(seen) as url:
        for i, each in enumerate(payloads(url)[:5]):
            path = tmp_path / f"{i}.html"
            path.write_text(f"<html><body>{each}</body></html>")
            browse(path.as_uri(), tmp_path, *DUMP, timeout=200)
        assert {"/0", "/1", "/2", "/3", "/4"} <= {*seen}
