"""What comes with the framework as a plugin like others: executors and reporters."""
