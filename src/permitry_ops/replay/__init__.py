"""What a policy says of recorded sessions, and what another one would say: nothing runs."""
