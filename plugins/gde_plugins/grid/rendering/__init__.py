"""How grids are shown: as text, in other words, in tokens, as pictures, and what is seen from a cell."""
