"""Results as plain text for the command line."""
