"""Hosts and ports as one text."""


def join_host_port(host: str, port: int) -> str:
    """`127.0.2.1:9092`, `[::1]:9092`."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def split_host_port(address: str) -> tuple[str, int]:
    """The inverse. Raises ValueError saying what is wrong with the address."""
    host, colon, port = address.rpartition(":")
    if not colon:
        raise ValueError(f"{address}: missing port in address")
    if not port.isdecimal() or int(port) > 65535:
        raise ValueError(f"{address}: {port or 'nothing'} is no port")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        raise ValueError(f"{address}: too many colons in address")
    if not host:
        raise ValueError(f"{address}: missing host in address")
    return host, int(port)
