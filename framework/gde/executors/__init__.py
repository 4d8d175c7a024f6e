"""Where the work of a run is done: in this process, or in processes of its own."""
