"""Times, operations, memory and limits, and the tables they are written to."""
