"""The formats in which models write calls as text: a table of marks, and a few ways to read what follows one."""
