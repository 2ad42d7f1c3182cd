"""The laboratory of kmcf: the paper computed again, localization on recorded data, benchmarks.

It adds its commands to ``kmcf`` and is a distribution of its own; the library never imports it.
"""
