"""The conditions of `when` and `unless`: one file each, and none depends on another."""
