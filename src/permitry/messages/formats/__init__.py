"""The formats in which models write calls as text, and what of a text is said, thought or quoted.

Marks: `marks` is the table of all formats, of rows that `mark` defines. Values: what is behind a mark is read with a
`cursor`, as JSON that names its tool (`json_calls`) or follows its name (`named_json`), in `tagged` arguments, as
Python (`pythonic`), behind `headers`, or as prompts teach it (`prompted`); `json_text`, `literal` and `values` make
arguments of it. The stream: `permitry.messages.walk`, with `quoting`.
"""
