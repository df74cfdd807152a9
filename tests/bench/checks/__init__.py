"""Rates of the checks on labelled sets, beside the popular default each replaces."""
