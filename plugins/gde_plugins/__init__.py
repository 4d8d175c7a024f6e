"""The plugins that come with gde; each folder stands on the same hooks as anybody's."""
