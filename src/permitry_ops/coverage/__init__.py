"""What golden cases, sessions and examples try of rules, and which changes of the rules they notice."""
