"""Shell text, read into commands: by the strict reader, and by the lenient one."""
