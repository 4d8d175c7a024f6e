"""Soft-optimal policies, and goal-directedness with respect to known and unknown
utilities.
"""
