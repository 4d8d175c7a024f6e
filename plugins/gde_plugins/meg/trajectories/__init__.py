"""Goal-directedness of behaviour that is known from episodes alone."""
