"""The agent of paper 000: a language model that is shown the world as text and answers with one action."""
