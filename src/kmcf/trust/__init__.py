"""Whether an estimate can be believed: alarms, calibrated intervals and regions, proper scores."""

from kmcf.trust.calibration import Calibration
from kmcf.trust.ellipses import Ellipse
from kmcf.trust.scores import crps, interval_score

__all__ = ["Calibration", "Ellipse", "crps", "interval_score"]
