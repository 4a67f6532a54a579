/** Byte strings that an attacker might send: random ones, and a valid one damaged in many ways. */

/** A small generator with a seed (xorshift32): fast, and a failing run fails again. */
function generator(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

/**
 * `count` strings. Most are wrong in their frame and cheap to refuse; one in a hundred is damaged inside, where the
 * points are, which costs a square root and more.
 */
export function* hostileBytes(valid: Uint8Array, count: number): Generator<Uint8Array> {
  const below = generator(0x9e3779b9);
  for (let i = 0; i < count; i++) {
    if (i % 100 === 0) yield damagedInside(valid, below);
    else if (i % 3 === 0) yield random(valid.length, below);
    else if (i % 3 === 1) yield randomAfterHeader(valid, below);
    else yield wrongLength(valid, below);
  }
}

type Below = (below: number) => number;

function random(most: number, below: Below): Uint8Array {
  return Uint8Array.from({ length: below(Math.min(most, 64) + 8) }, () => below(256));
}

/** A right header, and a short tail of small numbers: counts, lengths and tags that fit now and then. */
function randomAfterHeader(valid: Uint8Array, below: Below): Uint8Array {
  const bytes = Uint8Array.from({ length: 2 + below(48) }, () => (below(2) === 0 ? below(4) : below(256)));
  bytes.set(valid.subarray(0, Math.min(2, bytes.length)));
  return bytes;
}

/** Cut, stretched, or with a part taken out of it or put into it. */
function wrongLength(valid: Uint8Array, below: Below): Uint8Array {
  const cut = below(valid.length);
  const shift = 1 + below(40);
  const bytes = new Uint8Array(below(2) === 0 ? valid.length + shift : Math.max(0, valid.length - shift));
  bytes.set(valid.subarray(0, Math.min(cut, bytes.length)));
  const tail = valid.subarray(cut, Math.min(valid.length, cut + Math.max(0, bytes.length - cut)));
  bytes.set(tail, Math.min(cut, bytes.length));
  return bytes;
}

/** One to three bytes changed, the length kept. */
function damagedInside(valid: Uint8Array, below: Below): Uint8Array {
  const bytes = valid.slice();
  for (let i = 0; i <= below(3); i++) {
    const at = below(bytes.length);
    bytes[at] = (bytes[at] as number) ^ (1 + below(255));
  }
  return bytes;
}
