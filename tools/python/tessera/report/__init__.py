"""One offline HTML page that tells all about a run, about field files alone, or what differs between two runs.

    from tessera import load, report
    report.write(load("cosine"), "cosine.html")
"""
from tessera.report.build import fields_data, report_data, results_data, write, write_comparison, write_fields, write_results

__all__ = ["fields_data", "report_data", "results_data", "write", "write_comparison", "write_fields", "write_results"]
