"""Where values come from: what a session has heard, and in which form two values are one."""
