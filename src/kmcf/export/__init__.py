"""Results of filters and tuners, as tables for other programs and as pages for people."""

from kmcf.export.estimates import EstimateColumns, write_estimates
from kmcf.export.reports import write_report
from kmcf.export.tuning_results import save_tuning

__all__ = ["EstimateColumns", "save_tuning", "write_estimates", "write_report"]
