"""The formats in which models write calls as text: a table of marks, the readers behind them, and what they read with.

A reader returns None for what is not a block of its format, and raises `BrokenError` for what begins like one and is
none; so do all functions that move over a block. `permitry.messages.walk` goes through a text with them.
"""
