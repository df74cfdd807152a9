"""Recording what a healthy target does: the flow of `calibrate`."""
