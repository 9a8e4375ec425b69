"""Which IP addresses belong to the public internet, however they are written. Pure."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network

Address = IPv4Address | IPv6Address

# A public address that serves secrets to the machines of one vendor's cloud, and to no others
# (its page "What is IP address 168.63.129.16?", 2026-02). Others' are link-local.
_METADATA = IPv4Address("168.63.129.16")
_TRANSLATED = IPv6Network("64:ff9b::/96")  # NAT64: the last 32 bits are an IPv4 address
_UNICAST = IPv6Network("2000::/3")  # all addresses that are allocated so far (IANA, 2026-06)
# No web server has these, and not every supported Python knows that: addresses of protocols,
# relays and tunnels to IPv4, examples in documents (RFC 6890, 7526, 9637).
_NOT_SERVERS = tuple(
    ip_network(network)
    for network in ("192.0.0.0/24", "192.88.99.0/24", "2001::/23", "2002::/16", "3fff::/20")
)


def is_open(address: str, *, loopback: bool = False) -> bool:
    """Whether an IP address is in none of the private, local, multicast and reserved networks.

    Args:
        address: An address, as `socket` returns it.
        loopback: Whether addresses of this machine count as open.
    """
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    embedded = _embedded_ipv4(parsed) if isinstance(parsed, IPv6Address) else None
    return _is_open(embedded or parsed, loopback=loopback)


def _is_open(address: Address, *, loopback: bool) -> bool:
    if address.is_loopback and loopback:
        return True
    if isinstance(address, IPv6Address) and address not in _UNICAST:
        return False
    return (
        address.is_global
        and not (address.is_private or address.is_loopback or address.is_link_local)
        and not (address.is_multicast or address.is_reserved or address.is_unspecified)
        and not any(address in network for network in _NOT_SERVERS)
        and address != _METADATA
    )


def _embedded_ipv4(address: IPv6Address) -> IPv4Address | None:
    """The IPv4 address to which packets for this address go."""
    if address in _TRANSLATED:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped
