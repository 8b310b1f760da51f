"""What helps to write tests: of rules (`AuthContextBuilder`) and of adapters (`permitry.testing.conformance`)."""

from permitry.testing.contexts import AuthContextBuilder

__all__ = ["AuthContextBuilder"]
