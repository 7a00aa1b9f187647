"""One module for each command: `add(subparsers)` declares it, its `run(arguments)` does it and gives the exit code."""
