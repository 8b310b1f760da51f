"""The earlier place of `permitry_hosts.hooks`, for hooks that were installed before."""
