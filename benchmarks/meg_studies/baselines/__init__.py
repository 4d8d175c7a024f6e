"""Other measures of whether something is an agent, on the same worlds and walkers as
MEG.
"""
