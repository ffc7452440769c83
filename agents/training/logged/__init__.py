"""Episodes that somebody logged: a run's, arrays in npz files, or a Minari data set.

reading.py     where they are, how one file becomes episodes, what is found in all of them
arrays.py      arrays of observations, actions and rewards to the layout of episodes
checks.py      what is wrong with an array, in one line
experience.py  what stands in for an environment, and what the training loop learns from
"""
