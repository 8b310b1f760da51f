"""The inbox: questions answered in a browser (extra `inbox`)."""
