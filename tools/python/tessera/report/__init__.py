"""One offline HTML page that tells all about a run, or what differs between two.

    from tessera import load, report
    report.write(load("cosine"), "cosine.html")
"""
from tessera.report.build import report_data, results_data, write, write_comparison, write_results

__all__ = ["report_data", "results_data", "write", "write_comparison", "write_results"]
