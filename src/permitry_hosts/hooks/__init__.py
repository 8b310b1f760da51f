"""Hooks of coding agents: a host asks `permitry hook HOST` before each tool call, and gets an answer or nothing.

A host is one file, which reads its payload and writes its replies. `answering` decides, and `deadline_process` makes a
refusal of whatever goes wrong.
"""
