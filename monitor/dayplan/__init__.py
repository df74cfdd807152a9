"""The day plan of a target: what is asked of it, how often, at what price, and what is not.

``plan`` makes one of a configuration, ``rates`` is the pure rule it follows.
"""
