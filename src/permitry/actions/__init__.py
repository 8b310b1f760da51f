"""What a call would do: shell commands, programs, paths, hosts and patches, read with certainty or not at all."""
