"""What every other part may use: errors, array types, files, statistics, the machine.

Nothing here knows a robot.
"""
