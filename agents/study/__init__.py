"""What runs tell: this room reads runs, and changes nothing in how they go on.

insight/     what a model knows, and whether it knows how well it knows
compare/     groups of runs, with intervals over seeds
figures/     figures and films
statistics   means, intervals and probabilities over seeds
"""
