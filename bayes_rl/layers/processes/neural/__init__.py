"""Neural processes: distributions over functions, learned from many data sets."""
