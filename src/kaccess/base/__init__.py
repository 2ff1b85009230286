"""Basics for all other parts: errors, array types, files, statistics, the machine.

Nothing here depends on a robot.
"""
