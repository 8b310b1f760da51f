"""The pure core: calls, contexts, rules, the policy and its decisions. No I/O, no clock, no logging."""
