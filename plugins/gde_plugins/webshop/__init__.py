"""A shop by the rules of WebShop (Yao et al. 2022).

It has search, pages, options and a purchase that is judged.
"""
