"""The drill: every fault of the lab against a pass, in processes of their own, many times.

A drill has a store of its own in a temporary folder and never reaches a real pager or a real
target. The lab is only ever started as a process; what it knows of a run is read when it ended.
"""
