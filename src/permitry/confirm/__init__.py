"""Asking a human: the request, the response, the channel between, and the ledger of open questions."""
