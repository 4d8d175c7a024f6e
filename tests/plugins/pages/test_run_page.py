"""The page is true, legible without anything else, and safe against what a run may
contain.
"""

import re
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from gzip import decompress
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import pytest
from browser import browse
from markupsafe import escape

from gde.data.completion import Completion
from gde.data.evidence import Evidence
from gde.data.measure import Measure
from gde.data.observation import World
from gde.data.plan import Choice, Plan
from gde.data.result import Failure, Measurement, Result, Subject
from gde.data.trajectory import Decision, Trajectory
from gde.parts.reporter import Reporter
from gde.reporting.wording import number
from gde_plugins.pages.episodes import films
from gde_plugins.pages.run_page import HtmlReporter, page

HOSTILE = '<script>alert("x")</script>&<img src=x onerror=y>'
VOID = {"meta", "br", "img", "link", "input", "hr"}
SHAPES = {"circle", "g", "line", "path", "rect", "stop"}
PLAN = Plan(
    environment=Choice(name="grid"), agent=Choice(name="gpt-oss"), episodes=12, seed=7
)


class Page(HTMLParser):
    """Collects text and tags, and fails on a tag that is closed out of order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str | None]] = []
        self.pieces: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in SHAPES
        self.tags[tag] += 1
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"style", "script"} & {*self.open}:
            self.pieces.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.pieces).split())


def played(evidence: Evidence) -> str:
    """What the player is given."""
    made = films(evidence)
    assert made is not None
    return decompress(b64decode(made.packed)).decode()


def numbers(measurement: Measurement) -> Iterator[str]:
    if measurement.value is not None:
        yield number(measurement.value, measurement.unit)
    for bound in measurement.interval or ():
        yield number(bound, measurement.unit)


def test_the_page_is_well_formed_and_reaches_for_nothing_outside(
    result: Result, evidence: Evidence
) -> None:
    text = page(PLAN, result, evidence)
    parsed = Page(text)
    packed = films(evidence)
    assert (
        packed and packed.packed in text
    )  # which holds whatever letters chance gave it
    assert not re.search(
        r"https?:|//[a-z]|url\((?!#)|@import", text.replace(packed.packed, "")
    )
    assert not {"link", "img", "iframe", "object"} & parsed.tags.keys()
    assert parsed.tags["script"] == 2  # the player, and what it plays
    assert not [
        name
        for name, _ in parsed.attributes
        if name.startswith("on") or name in {"src", "style"}
    ]
    links = [value for name, value in parsed.attributes if name == "href"]
    assert all(value and value.startswith("#episode=") for value in links)


def test_a_browser_is_told_to_run_nothing_but_the_player(
    result: Result, evidence: Evidence
) -> None:
    text = page(PLAN, result, evidence)
    (policy,) = re.findall(
        r'http-equiv="Content-Security-Policy" content="([^"]*)"', text
    )
    assert policy.startswith("default-src &#39;none&#39;;")
    for tag, pattern in (
        ("style", r"<style>(.*?)</style>"),
        ("script", r"<script>(.*?)</script>"),
    ):
        (content,) = re.findall(pattern, text, re.DOTALL)
        hashed = b64encode(sha256(content.encode()).digest()).decode()
        assert f"{tag}-src &#39;sha256-{escape(hashed)}&#39;" in policy
    assert len(text.encode()) < 2_000_000


def test_every_number_of_the_run_is_on_the_page(
    result: Result, evidence: Evidence
) -> None:
    text = Page(page(PLAN, result, evidence)).text
    whole = [one for one in result.measurements if not one.where]
    decoded = [
        one
        for report in evidence.probe_reports
        for one in report.measurements
        if not one.where
    ]
    assert len(whole) > 10 and len(decoded) > 50
    assert [
        shown
        for one in [*whole, *decoded]
        for shown in numbers(one)
        if shown not in text
    ] == []
    assert all(failure.reason in text for failure in result.failures)
    assert result.plan_hash in text
    assert "packages.numpy 2.4.6" in text


def test_headlines_come_first_and_all_else_is_folded_behind_them(
    result: Result, evidence: Evidence
) -> None:
    text = page(PLAN, result, evidence)
    first, _, rest = text.partition('<details class="question">')
    for title in ("Success rate", "Accuracy", "Usable answers"):
        assert title in first
    folded = (
        "Accuracy, pooled over steps",
        "Empty answers",
        "Episodes that reach the horizon",
    )
    for title in folded:
        assert title not in first and title in rest
    summaries = re.findall(r"<summary>(.*?)</summary>", rest)
    place = summaries.index("Behaviour")
    assert summaries[place + 1] == "Answers (shares of turns)"
    believed = next(one for one in summaries if "What does it believe?" in one)
    probe = next(one for one in summaries if one.startswith("cogmap: every fit"))
    assert summaries.index("Behaviour") < summaries.index(believed)
    assert summaries.index(believed) < summaries.index(probe)


def test_what_a_variant_cannot_do_is_said_beneath_its_numbers(
    result: Result, evidence: Evidence
) -> None:
    meant = result.meanings["cogmap.top1.agent"].caveat({"variant": "linear"})
    assert "linear" in meant and not result.meanings["cogmap.top1.agent"].caveat(
        {"variant": "mlp"}
    )
    text = page(PLAN, result, evidence)
    assert (
        text.count(meant) == 1
    )  # beneath the table of the probe, and not at the top: the main fit is another
    others = tuple(
        report for report in evidence.probe_reports if report.fit.variant != "linear"
    )
    assert meant not in page(PLAN, result, replace(evidence, probe_reports=others))
    told = Measurement(
        name="told.agent",
        value=0.0,
        unit="share",
        n=9,
        where={"variant": "linear", "layer": 3},
    )
    measure = Measure(
        name="told.*",
        title="* told",
        group="Told",
        caveats={"linear": "It was told nothing."},
    )
    rows = replace(
        result,
        measurements=(*result.measurements, told),
        measures=(*result.measures, measure),
    )
    assert (
        "It was told nothing."
        in page(PLAN, rows, evidence).partition("<caption>Told.")[2]
    )


def test_a_probe_beside_random_weights_has_no_p_value(
    result: Result, evidence: Evidence
) -> None:
    """It would rest on the tails of a distribution of which few draws are known."""
    text = page(PLAN, result, evidence)
    assert "outside all 19 random initialisations" in text
    assert not re.search(r"\bp\u00a0", text)

    once = []
    for one in result.measurements:
        if one.verdict is not None:
            verdict = replace(one.verdict, control="no_activations", outside=None)
            one = replace(one, verdict=verdict)
        once.append(one)
    text = page(PLAN, replace(result, measurements=tuple(once)), evidence)
    assert re.search(r"better than no activations by [^<]*, p\u00a0&lt; 0\.001", text)


def test_what_no_part_declares_is_shown_under_its_own_name(
    result: Result, evidence: Evidence
) -> None:
    unheard = Measurement(name="unheard.of", value=2.0, unit="bits", n=3)
    text = Page(
        page(
            PLAN,
            replace(result, measurements=(*result.measurements, unheard)),
            evidence,
        )
    ).text
    assert "Other measurements" in text
    assert "unheard.of" in text


def test_the_notice_follows_the_claim_and_comes_before_any_table(
    result: Result, evidence: Evidence
) -> None:
    text = page(PLAN, result, evidence)
    places = [text.index(part) for part in ("<h1>", "not GPT-OSS-20B", "<table>")]
    assert places == sorted(places)


def test_the_page_names_the_model_and_what_it_took(
    result: Result, evidence: Evidence
) -> None:
    text = Page(page(PLAN, result, evidence)).text
    claimed = text.index("nano reached")
    asked = text.index("gpt-oss with nano, 23 Nov 2026; 180 calls")
    assert claimed < asked < text.index("About the model.")
    assert "no prices set" in text


def test_pictures_and_tables_speak_to_those_who_do_not_see_them(
    result: Result, evidence: Evidence
) -> None:
    parsed = Page(page(PLAN, result, evidence))
    attributes = Counter(name for name, _ in parsed.attributes)
    assert parsed.tags["caption"] == parsed.tags["table"] > 3
    assert attributes["aria-label"] + attributes["aria-hidden"] >= parsed.tags["svg"]
    assert "True map, 7 by 7: agent at (" in played(evidence)


def test_a_decoded_map_stands_beside_the_true_grid_only_where_it_was_held_out(
    result: Result, evidence: Evidence
) -> None:
    assert played(evidence).count("Decoded agent") > 6
    main = replace(
        evidence.probe_reports[0],
        rows=(("0/0/0", 0),),
        decoded=evidence.probe_reports[0].decoded[:1],
    )
    text = played(replace(evidence, probe_reports=(main,)))
    assert text.count("Decoded agent") == 1
    assert text.count("the probe was fitted on this turn") > 7


def test_without_probes_and_sweeps_the_page_leaves_their_sections_out(
    result: Result, evidence: Evidence
) -> None:
    metrics = tuple(one for one in result.measurements if not one.where)
    plain = replace(result, measurements=metrics, failures=())
    text = Page(page(PLAN, plain, replace(evidence, probe_reports=()))).text
    assert "What its activations say" not in text
    assert "by condition" not in text
    assert "What went wrong" not in text
    assert "decoded" not in text


def test_an_empty_run_still_has_a_page(result: Result) -> None:
    subject = Subject(agent="gpt-oss", environment="grid")
    nothing = replace(
        result, measurements=(), provenance={}, status="failed", subject=subject
    )
    text = Page(page(PLAN, nothing, Evidence(trajectories=()))).text
    assert "gpt-oss: no metric of its behaviour has a value." in text


def test_tests_have_a_table_with_a_row_for_each_measurement_and_condition(
    result: Result, evidence: Evidence
) -> None:
    where = {"transform": "reflect"}
    found = (
        Measurement(
            name="pairs.accuracy.difference",
            value=-0.05,
            unit="share",
            n=9,
            interval=(-0.1, 0.0),
            where=where,
        ),
        Measurement(
            name="pairs.accuracy.p_holm",
            value=0.0004,
            unit="probability",
            n=9,
            where=where,
        ),
        Measurement(
            name="pairs.policy.jsd.p_holm",
            value=None,
            unit="probability",
            n=4,
            where=where,
            reason="4 pairs",
        ),
        Measurement(
            name="trends.accuracy.spearman",
            value=-0.5,
            unit="correlation",
            n=9,
            where={"by": "size"},
        ),
    )
    text = Page(page(PLAN, replace(result, measurements=found), evidence)).text
    assert "difference from the counterfactual p, corrected (Holm)" in text
    assert "Accuracy transform reflect" in text
    assert "\u22125.0 %" in text
    assert "< 0.001" in text
    assert "4 pairs" in text
    assert "Trends over difficulty." in text


def test_a_number_that_cannot_be_had_shows_its_reason(
    result: Result, evidence: Evidence
) -> None:
    absent = Measurement(
        name="meg", value=None, unit="nats", n=0, reason="the solver did not converge"
    )
    text = Page(page(PLAN, replace(result, measurements=(absent,)), evidence)).text
    assert "the solver did not converge" in text


def test_what_a_run_contains_cannot_become_markup(
    result: Result, evidence: Evidence
) -> None:
    first = evidence.trajectories[0]
    completion = Completion(text=HOSTILE, reasoning=HOSTILE, finish="stop")
    turn = replace(
        first.turns[0], decision=Decision.act(HOSTILE, completion), optimal=(HOSTILE,)
    )
    episode = replace(first, turns=(turn,), labels={"kind": HOSTILE})
    hostile = replace(
        result,
        failures=(Failure(stage=HOSTILE, subject=HOSTILE, reason=HOSTILE),),
        subject=Subject(agent=HOSTILE, environment=HOSTILE),
        measures=(
            Measure(
                name="known",
                title=HOSTILE,
                group=HOSTILE,
                headline=True,
                phrase=HOSTILE,
            ),
        ),
        measurements=(
            Measurement(name="known", value=1.0, unit=HOSTILE, n=1),
            Measurement(
                name=HOSTILE, value=1.0, unit=HOSTILE, n=1, where={"a": HOSTILE}
            ),
        ),
        provenance={"notice": HOSTILE, HOSTILE: HOSTILE},
        models=(replace(result.models[0], name=HOSTILE, part=HOSTILE),),
    )
    plan = replace(PLAN, agent=Choice(name=HOSTILE), environment=Choice(name=HOSTILE))
    text = page(plan, hostile, replace(evidence, trajectories=(episode,)))
    assert "<img" not in text
    assert Page(text).tags["script"] == 2
    assert HOSTILE in Page(text).text


def worded(trajectory: Trajectory) -> Trajectory:
    return replace(trajectory, world=World(id=trajectory.world.id, labels={}))


def test_a_world_that_is_no_grid_shows_what_the_agent_was_shown(
    result: Result, evidence: Evidence
) -> None:
    elsewhere = replace(
        evidence,
        trajectories=tuple(map(worded, evidence.trajectories)),
        probe_reports=(),
    )
    parsed = Page(page(PLAN, result, elsewhere))
    assert played(elsewhere).count("a grid") > 6
    assert "Legend" not in [value for _, value in parsed.attributes]


def test_a_map_that_cannot_be_read_is_shown_as_text_with_the_reason(
    evidence: Evidence,
) -> None:
    first = evidence.trajectories[0]
    torn = replace(
        first, world=replace(first.world, facts={**first.world.facts, "rows": ["#?#"]})
    )
    text = played(replace(evidence, trajectories=(torn,)))
    assert (
        "The map cannot be drawn: `rows` of a map: wanted the symbols #, _, got ['?']."
        in text
    )
    assert "<svg" not in text


def test_a_world_may_say_how_it_is_drawn(evidence: Evidence) -> None:
    first = evidence.trajectories[0]
    told = replace(
        first,
        world=replace(
            first.world, facts={**first.world.facts, "view": "a lamp stands here"}
        ),
    )
    text = played(replace(evidence, trajectories=(told,)))
    assert "a lamp stands here" in text
    assert "<svg" not in text


@pytest.mark.extended
def test_the_longest_run_keeps_the_page_small(
    result: Result, evidence: Evidence
) -> None:
    longest = max(evidence.trajectories, key=lambda one: len(one.turns))
    turns = tuple(replace(longest.turns[0], index=i) for i in range(500))
    endless = tuple(
        replace(one, turns=turns, world=longest.world) for one in evidence.trajectories
    )
    endless_run = replace(evidence, trajectories=endless)
    text = page(PLAN, result, endless_run)
    assert len(text.encode()) < 2_000_000
    assert '"hidden": 300' in played(endless_run)


def test_the_reporter_writes_the_same_page_twice(
    result: Result, evidence: Evidence, tmp_path: Path
) -> None:
    reporter = HtmlReporter()
    assert isinstance(reporter, Reporter)
    path = reporter.render(PLAN, result, evidence, tmp_path)
    first = path.read_bytes()
    assert path == tmp_path / "report.html"
    assert reporter.render(PLAN, result, evidence, tmp_path).read_bytes() == first


@pytest.mark.outside
def test_a_browser_lays_the_page_out_and_plays_the_episode_of_a_link(
    result: Result, evidence: Evidence, tmp_path: Path
) -> None:
    first, *others = evidence.trajectories
    completion = Completion(
        text=f"{HOSTILE}<script>document.title = 'broken'</script>",
        reasoning=HOSTILE,
        finish="stop",
    )
    attack = replace(
        first.turns[0], index=len(first.turns), decision=Decision.act("UP", completion)
    )
    turns = (*first.turns, attack)
    hostile = replace(evidence, trajectories=(replace(first, turns=turns), *others))
    path, picture = (
        HtmlReporter().render(PLAN, result, hostile, tmp_path),
        tmp_path / "page.png",
    )
    until_played = "--virtual-time-budget=5000"
    seen = f"--screenshot={picture}"
    browse(path.as_uri(), tmp_path, until_played, seen, timeout=120)
    assert picture.stat().st_size > 20_000
    address = f"{path.as_uri()}#episode={first.key}&turn={len(turns)}"
    shown = browse(address, tmp_path, until_played, "--dump-dom", timeout=120)
    assert f"Turn {len(turns)} of {len(turns)}: UP" in shown
    assert str(escape("<script>document.title")).replace("&#39;", "'") in shown
    title, *_ = re.findall("<title>(.*?)</title>", shown)
    assert title.startswith("gpt-oss with nano \u00b7 grid")
