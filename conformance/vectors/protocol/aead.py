"""ChaCha20-Poly1305 (RFC 8439)."""
import functools
import struct


def chacha20(key, counter, nonce):
    start = struct.unpack("<16I", b"expand 32-byte k" + key + struct.pack("<I", counter) + nonce)
    state = list(start)

    def mix(a, b, target, turn):
        state[a] = (state[a] + state[b]) & 0xFFFFFFFF
        word = state[target] ^ state[a]
        state[target] = (word << turn | word >> 32 - turn) & 0xFFFFFFFF

    for _ in range(10):
        for a, b, c, d in [(k, k + 4, k + 8, k + 12) for k in range(4)] + [
            (k, 4 + (k + 1) % 4, 8 + (k + 2) % 4, 12 + (k + 3) % 4) for k in range(4)
        ]:
            mix(a, b, d, 16), mix(c, d, b, 12), mix(a, b, d, 8), mix(c, d, b, 7)
    return struct.pack("<16I", *((x + y) & 0xFFFFFFFF for x, y in zip(state, start)))


@functools.lru_cache(None)
def aead_open(key, nonce, data, associated):
    """The plaintext, or None where the tag does not fit."""
    text, tag = data[:-16], data[-16:]
    one_time = chacha20(key, 0, nonce)
    r, total = int.from_bytes(one_time[:16], "little") & 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF, 0
    padded = b"".join(part + bytes(-len(part) % 16) for part in (associated, text))
    padded += struct.pack("<QQ", len(associated), len(text))
    for at in range(0, len(padded), 16):
        total = (total + int.from_bytes(padded[at : at + 16] + b"\x01", "little")) * r % (2**130 - 5)
    if ((total + int.from_bytes(one_time[16:32], "little")) % 2**128).to_bytes(16, "little") != tag:
        return None
    stream = b"".join(chacha20(key, 1 + block, nonce) for block in range(-(-len(text) // 64)))
    return bytes(x ^ y for x, y in zip(text, stream))
