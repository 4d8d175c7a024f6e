"""The ways to run the stages: evaluate, resume, rescore, compare and others."""
