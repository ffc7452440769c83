"""What a gradient step of `agents.agent.planet_agent` needs beside the losses.

    drawing.py    the random numbers of a step, the same on any number of devices
    optimizer.py  Adam for the model and for what learns beside it
    averaging.py  averages of the weights over the last steps

By the averages an agent is judged; it goes on from what it has learned last.
"""
