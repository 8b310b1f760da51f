"""What works on rules and records: lint, replay, suggestions, the inbox, PostgreSQL, OpenTelemetry, Parquet and plots.

It asks `permitry`, which decides, and which does not import it.
"""
