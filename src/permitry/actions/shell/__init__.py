"""Shell text: the strict reader, the lenient one, what programs run inside, and what all that does."""
