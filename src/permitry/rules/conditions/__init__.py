"""The conditions of `when` and `unless`: one file each, none of which knows another."""
