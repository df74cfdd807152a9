"""Recording what a healthy target does, and what is made of it: the flow of ``calibrate``."""

from monitor.calibrating.flow import Calibrate, CalibrationStep, OnCalibrationStep, calibrate
from monitor.calibrating.planning import LEAST_SAMPLES, MOST_SAMPLES, SAMPLES
from monitor.calibrating.result import shown_calibration, stored_calibrations, uncalibrated

__all__ = [
    "LEAST_SAMPLES",
    "MOST_SAMPLES",
    "SAMPLES",
    "Calibrate",
    "CalibrationStep",
    "OnCalibrationStep",
    "calibrate",
    "shown_calibration",
    "stored_calibrations",
    "uncalibrated",
]
