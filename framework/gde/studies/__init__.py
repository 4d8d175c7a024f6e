"""Studies: several runs that are read together, and compared with what was published."""
