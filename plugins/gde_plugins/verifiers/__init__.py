"""Environments of gde under verifiers."""

from gde_plugins.verifiers.environment import load_environment as load_environment
