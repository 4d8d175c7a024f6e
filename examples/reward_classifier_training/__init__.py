"""The training of the reward models `supervised` and `vlwm` on preferences.

PYTHONPATH=examples python -m reward_classifier_training --data FILE --out critic
"""
