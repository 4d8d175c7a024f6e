"""Ways through the stages: evaluate, resume, rescore, probe, compare, reproduce,
export.
"""
