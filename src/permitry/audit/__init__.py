"""The record of every decision, answer and run."""
