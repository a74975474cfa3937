"""The command line, one module a command, and what a person runs by hand."""
