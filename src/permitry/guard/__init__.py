"""What comes between a decision and a run: grants, budgets, questions, the record; for one session."""
