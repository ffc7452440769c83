"""Commands of runs of many processes, on one machine or over a cluster."""
