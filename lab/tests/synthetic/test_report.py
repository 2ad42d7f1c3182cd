"""The page of Section 6.2, of made-up results."""

from synthetic_results import as_the_paper_says, made_up

from kmcf.report.markdown import markdown
from kmcf_lab.synthetic.measured import Measured
from kmcf_lab.synthetic.report import data_sets, synthetic_report

RESULTS = made_up(as_the_paper_says, sizes=(100, 400), repetitions=4)


def page(results):
    return markdown(synthetic_report(results, "kmcf reproduce synthetic"))


def test_a_number_of_examples_with_few_data_sets_is_judged_by_itself():
    few = [one for one in RESULTS if one.cell.coordinates["n"] == 100 or one.cell.coordinates["repetition"] < 2]
    text = page(few)
    assert "rests on 4 data sets at n = 100 and 2 data sets at n = 400, for every model and method" in text
    assert "## n = 400 alone" in text
    assert "## n = 100 alone" not in text
    _, alone = text.split("## n = 400 alone")
    assert "which has 2 data sets" in alone
    assert "n = 400: root mean squared error, mean over 2 data sets" in alone
    assert alone.split("## ")[0].count("seen from") == 22 + 1  # the checks about errors, and what the words mean


def test_with_equally_many_data_sets_there_is_one_table():
    assert " alone\n" not in page(RESULTS)


def test_the_page_says_of_a_stopped_run_that_not_all_was_computed():
    values = {(model, n, "KMCF"): {0: 1.0, 1: 1.1} for model in ("1a", "1b") for n in (100, 200)}
    counted = "This page rests on 2 data sets at n = 100 and 2 data sets at n = 200, for every model and method"
    assert data_sets(Measured(values)) == f"{counted}."
    del values["1b", 200, "KMCF"]
    assert data_sets(Measured(values)) == f"{counted} that was computed there."
