"""The training loop, and what is measured beside it.

Words that this room shares, beside those of `agents.episodes`:

run      `agents.runs.folder.Run`, open
passed   `agents.training.passing.Passed`, of the newest episode
devices  `tf.distribute.Strategy`, see `agents.training.building.choose_devices`
entries  dict of path -> size of what an observation was put together from
actions  what they stand for, `envs.actions.Actions` or `Categories`
"""
