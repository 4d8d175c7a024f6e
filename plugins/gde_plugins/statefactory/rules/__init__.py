"""States and goals of known worlds without a language model: one world a file."""
