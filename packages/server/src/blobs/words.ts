/** Bytes as words: pieces of a blob regrouped so that each holds whole words. A piece of words is valid until the next one is requested. */
export async function* wordPieces(pieces: AsyncIterable<Uint8Array>): AsyncIterable<Uint32Array> {
  let rest = new Uint8Array(0);
  for await (const piece of pieces) {
    const joined = rest.length === 0 && piece.byteOffset % 4 === 0 ? piece : joinedOf(rest, piece);
    const words = Math.floor(joined.length / 4);
    yield new Uint32Array(joined.buffer, joined.byteOffset, words);
    rest = joined.slice(4 * words);
  }
}

/** In memory that is aligned for words. */
function joinedOf(rest: Uint8Array, piece: Uint8Array): Uint8Array {
  const joined = new Uint8Array(rest.length + piece.length);
  joined.set(rest);
  joined.set(piece, rest.length);
  return joined;
}
