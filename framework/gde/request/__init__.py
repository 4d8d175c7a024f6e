"""From what a user wrote to parts that fit together: names looked up, settings typed, plans read and checked."""
