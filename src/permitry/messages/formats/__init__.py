"""The formats in which models write calls as text, and what of a text is said, thought or quoted.

Marks: `marks` is the table of all formats, of rows that `mark` defines. Values: what is behind a mark is read with a
`cursor`, as JSON that names its tool or follows its name (`json_calls`), in `tags`, as Python (`pythonic`), behind
`headers`, or as prompts teach it (`prompted`); `values` reads JSON and literals, `arguments` makes calls of them. The
stream: `permitry.messages.walk`, with `quoting`.

A reader returns None for what is not a block of its format, and raises `BrokenError` for what begins like one and is
none; so do all functions that move over a block.
"""
