"""What an agent does, seen from the outside: success, accuracy, length, and what became
of every answer.
"""
