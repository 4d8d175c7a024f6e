"""Mazes and open rooms as text.

Grids come from `generation.generate` or `files.read_origins`, their variations from
`transforms.Transform` and `vocabulary.Vocabulary`, their text from
`layout.render_text`, their model from `dynamics.tabulate`, their picture from
`pictures.draw`; `composition.compose` adds perturbations and fog; `alignment.align`
finds their cells among a model's tokens. Nothing is imported here, so that listing
plugins stays quick.
"""
