"""Goal-directedness of behaviour known from episodes alone."""
