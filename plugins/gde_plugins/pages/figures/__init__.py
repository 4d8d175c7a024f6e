"""Vega-Lite figures and inline SVG pictures."""
