"""Names of colors in the values of options."""

NAMES = """
alabaster apricot aqua ash asphalt azure banana beige black blue blush bordeaux bronze
brown burgundy camel camo caramel champagne charcoal cheetah chestnut chocolate
christmas coffee cognac copper coral cranberry cream crystal dark denim eggplant
elephant espresso fuchsia gold granite grape graphite grass gray green grey heather
indigo ivory ivy khaki lavender lemon leopard light lilac lime magenta maroon mauve
merlot midnight mint mocha multicolor mushroom mustard natural navy nude olive orange
peach pewter pink plum purple rainbow red rose royal rust sand sapphire seashell
silver skull slate steel stone stonewash sunflower tan taupe teal tiger turquoise
violet walnut wheat white wine yellow
"""
COLORS = NAMES.split()
"""The names that the released code knows, in its order, which decides."""


def normalize_color(value: str) -> str:
    """Return the first color whose name is part of the value, or else the value.

    So "navy blue" is "blue", and "bored" is "red", as in the released code.
    """
    for color in COLORS:
        if color in value:
            return color
    return value
