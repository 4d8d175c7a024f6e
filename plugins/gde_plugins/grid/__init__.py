"""Mazes and open rooms as text.

Grids come from `generation.generate`, their text from `layout.render_text`, their model from `dynamics.tabulate`,
their picture from `pictures.draw`; `alignment.align` finds their cells among a model's tokens. Nothing is imported
here, so that listing plugins stays quick.
"""
