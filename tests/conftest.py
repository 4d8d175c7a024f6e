"""How examples are made in tests of properties: however long each takes, which is a
matter of what else is running.
"""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any machine")
