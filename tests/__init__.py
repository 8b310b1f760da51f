"""The tests; the benchmarks in `bench` run as `python -m tests.bench`."""
