"""Faults and nulls: each switches off or changes one step of serving."""
