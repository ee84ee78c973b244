"""The toxics that the server knows, with their attributes. Source: Shopify/toxiproxy v2.12.0 toxics/."""

from collections.abc import Iterable, Mapping

TOXICS: Mapping[str, frozenset[str]] = {
    "latency": frozenset({"latency", "jitter"}),
    "bandwidth": frozenset({"rate"}),
    "slow_close": frozenset({"delay"}),
    "timeout": frozenset({"timeout"}),
    "reset_peer": frozenset({"timeout"}),
    "slicer": frozenset({"average_size", "size_variation", "delay"}),
    "limit_data": frozenset({"bytes"}),
}


def unsupported_reason(kind: str, attributes: Iterable[str]) -> str | None:
    """Why Toxiproxy would not make this toxic, completing `it cannot`; None where it does."""
    known = TOXICS.get(kind)
    if known is None:
        return f"make the toxic {kind}: Toxiproxy knows {', '.join(TOXICS)}"
    for name in attributes:
        if name not in known:
            return f"make the toxic {kind} with {name}: it has {', '.join(sorted(known))}"
    return None
