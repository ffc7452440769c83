"""What the site makes of the code itself, so that no page can fall behind it.

* mathml.py: formulas as MathML: a browser draws them without a script or a network
* docstrings.py: docstrings as they read in a terminal
* names.py: pages of the public names of `bayes_rl`
* agent_names.py: pages of the strategies, planners and doors of `agents` and `envs`
* keys.py: the page of every config key
* helps.py: the page of every command's --help
* columns.py: what the columns of each csv file of a run mean
* results.py: pages of what was measured
* gallery.py: films of agents, and what was measured as pictures
* pages.py: writes all of them
"""
