"""Rows and scores of localization runs, written by hand."""

from kmcf_lab.localize.scores import Score


def row(time, error, **changes):
    plain = {"missing": False, "rejected": False, "milliseconds": 2.0, "examples": 10, "group": "", "tuned": ""}
    return {"time": float(time), "error": error, "x": 0.0, "y": 0.0, "mass_near_truth": 0.5, **plain, **changes}


def one_score(method="kmcf", fold="a", mean=1.0, **changes):
    plain = {
        "group": "",
        "examples": 100,
        "repetition": 0,
        "median": mean,
        "share": 0.5,
        "rmse": mean,
        "rmse_of_mean": float("nan"),
        "milliseconds": 1.0,
        "crps": 0.6 * mean,
        "inside": 0.95,
        "within": 0.95,
    }
    plain |= {"steps": 5, "missing": 0, "rejected": 0, "tuned": ""}
    return Score(method=method, fold=fold, mean=mean, **{**plain, **changes})
