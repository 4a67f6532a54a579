/** Bytes as words: pieces of a blob regrouped so that each holds whole words, in memory that words may lie in. */
export async function* wordPieces(pieces: AsyncIterable<Uint8Array>): AsyncIterable<Uint32Array> {
  let rest = new Uint8Array(0);
  for await (const piece of pieces) {
    const joined = new Uint8Array(rest.length + piece.length);
    joined.set(rest);
    joined.set(piece, rest.length);
    const words = Math.floor(joined.length / 4);
    yield new Uint32Array(joined.buffer, 0, words);
    rest = joined.slice(4 * words);
  }
}
