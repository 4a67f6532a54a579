/** Bytes that ChaCha20-Poly1305 appends. */
export const TAG_BYTES = 16;
