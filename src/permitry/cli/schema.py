"""`permitry schema`: the JSON Schemas editors complete from."""

import argparse
import json

from permitry.cli.main import ExitCode

__all__ = ["configure"]


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of `permitry schema`."""
    parser.add_argument(
        "of", nargs="?", choices=("rules", "case"), default="rules", help="rule files (the default) or golden cases"
    )
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> ExitCode:
    """Print the schema."""
    from permitry.config.schema import rule_file_schema
    from permitry.golden.case import case_schema

    schema = rule_file_schema() if options.of == "rules" else case_schema()
    print(json.dumps(schema, indent=2))
    return ExitCode.OK
