"""gde under the interfaces of other tools."""
