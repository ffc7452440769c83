"""What a person types: which commands there are, and their options.

    parser.py     reads a command line
    options.py    the options of each command, and their help

Nothing here imports TensorFlow, which takes seconds, or says what a command does.
"""
