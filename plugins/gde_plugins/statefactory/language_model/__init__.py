"""States and goals as a language model reads them."""
