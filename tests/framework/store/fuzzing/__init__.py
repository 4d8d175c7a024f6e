"""Files of strangers by the thousand: real ones, damaged, and read in limits."""
