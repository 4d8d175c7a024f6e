"""What is done before a run writes anything: its parts tried, its models asked once."""
