"""Which hosts may be called: the strict URL parser, the allow-list, and hosts as people type them."""

from habilis.hosts.addresses import AddressKind, kind_of, literal_of, opt_in_hint
from habilis.hosts.allowed import AllowedHosts, checked_url, origin_of
from habilis.hosts.typed import host_entry_problem, host_name, opt_in_host, site_address

__all__ = [
    "AddressKind",
    "AllowedHosts",
    "checked_url",
    "host_entry_problem",
    "host_name",
    "kind_of",
    "literal_of",
    "opt_in_hint",
    "opt_in_host",
    "origin_of",
    "site_address",
]
