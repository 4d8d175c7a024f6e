"""What is read of known worlds without a language model: one world a file."""
