"""The grammar of a patch for providers that hold a model to one: the strict form of what `parse_patch` reads.

What the reader forgives is left out: blanks around markers, empty lines for context, a here-document around the patch.
"""

from typing import Final

__all__ = ["GRAMMAR"]

GRAMMAR: Final = r"""
start: "*** Begin Patch" LF operation+ "*** End Patch" LF?

operation: addition | deletion | change

addition: "*** Add File: " PATH LF NEW_LINE*
deletion: "*** Delete File: " PATH LF
change: "*** Update File: " PATH LF destination? first_chunk chunk*

destination: "*** Move to: " PATH LF
first_chunk: place? LINE+ at_end?
chunk: place LINE+ at_end?
place: "@@" (" " TEXT)? LF
at_end: "*** End of File" LF

NEW_LINE: /\+[^\n]*\n/
LINE: /[ +\-][^\n]*\n/
PATH: /[^\s](?:[^\n]*[^\s])?/
TEXT: /[^\n]+/
LF: "\n"
"""
"""In the language of Lark, as the OpenAI API takes it."""
