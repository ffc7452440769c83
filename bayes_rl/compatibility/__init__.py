"""What other libraries expect of us, and what we expect of their versions.

* edward2_modules.py: Modules under the paths that edward2 has
* versions.py: Which Keras is used, and what has no public name
"""
