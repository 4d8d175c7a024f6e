"""The grid as a Markov decision process, and what is best to do in it."""
