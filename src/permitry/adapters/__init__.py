"""The earlier place of `permitry_hosts.adapters`; these names go with the next release."""
