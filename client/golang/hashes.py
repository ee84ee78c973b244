"""The hashes of keys by which Go clients of Kafka choose partitions."""


def fnv1a_32(data: bytes) -> int:
    """Source: Go's hash/fnv (New32a)."""
    value = 2166136261
    for byte in data:
        value = ((value ^ byte) * 16777619) & 0xFFFFFFFF
    return value


def murmur2(data: bytes) -> int:
    """Source: apache/kafka Utils.java (murmur2)."""
    magic, mask = 0x5BD1E995, 0xFFFFFFFF
    value = (0x9747B28C ^ len(data)) & mask
    whole = len(data) & ~3
    for start in range(0, whole, 4):
        part = (int.from_bytes(data[start : start + 4], "little") * magic) & mask
        part = ((part ^ (part >> 24)) * magic) & mask
        value = ((value * magic) & mask) ^ part
    if whole < len(data):
        value = ((value ^ int.from_bytes(data[whole:], "little")) * magic) & mask
    value = ((value ^ (value >> 13)) * magic) & mask
    return value ^ (value >> 15)
