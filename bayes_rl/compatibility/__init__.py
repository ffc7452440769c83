"""What programs of other libraries expect to find here.

* edward2_modules.py: Modules under the paths that edward2 has
"""
