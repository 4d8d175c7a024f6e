"""Makes `promised` importable by the tests beside it, and writes the page of checks
where that is asked for.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))


def pytest_sessionfinish() -> None:
    import promised

    if promised.writing():
        promised.write()
