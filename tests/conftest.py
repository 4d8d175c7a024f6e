"""Settings of the whole suite."""

import atexit
import gc
import os
import shutil
import sys
from tempfile import mkdtemp

from hypothesis import HealthCheck, settings

# Tests and the processes that they start would compile every module anew.
if os.environ.pop("PYTHONDONTWRITEBYTECODE", None):
    sys.dont_write_bytecode = False

# Workers of pytest share the cores: more threads in each would only wait for each other.
# Set here, because torch and BLAS read it when they are imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# The list of trusted runs and the settings are not the user's.
STATE = mkdtemp(prefix="gde-tests-")
atexit.register(shutil.rmtree, STATE, ignore_errors=True)
os.environ["GDE_STATE"] = STATE
os.environ["GDE_SETTINGS"] = "/nowhere"

# An example may take however long it takes, which depends on what else is running.
settings.register_profile(
    "any machine",
    deadline=None,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("any machine")


def pytest_collection_finish() -> None:
    """Exempt what the imports made from garbage collection.

    With all of the suite imported, looking through it takes a second each time.
    """
    gc.collect()
    gc.freeze()
