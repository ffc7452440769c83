"""What a gradient step needs beside the losses.

drawing.py    the random numbers of a step, the same on any number of devices
optimizer.py  Adam for the model and for what learns beside it
averaging.py  averages of the weights over the last steps, by which the agent acts
"""
