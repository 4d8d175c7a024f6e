"""The parts that gde itself offers, through the same hooks as everyone."""
