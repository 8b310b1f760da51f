"""What a change of rules makes possible, with a call for each way, or that there is none."""
