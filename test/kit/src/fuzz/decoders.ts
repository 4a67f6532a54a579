/** Feeds mutated messages to a decoder and checks its promise: a DecodeError, or a value that encodes back. */

import { concatBytes, DecodeError } from '@basa/masking';
import { seededWords } from '@basa/simulator/node';
import { drawFrom } from '../core/draw.ts';

export interface FuzzResult {
  readonly runs: number;
  /** Inputs that decoded: harmless changes of free bytes, each canonical. */
  readonly decoded: number;
}

export interface Fuzzed {
  readonly name: string;
  readonly codec: { encode(value: object): Uint8Array; decode(bytes: Uint8Array): object };
  /** A message to begin with. */
  readonly bytes: Uint8Array;
}

/** Runs `runs` inputs; throws with the offending bytes at the first broken promise. */
export function fuzzDecoder({ name, codec, bytes }: Fuzzed, runs: number, seed: number): FuzzResult {
  const draw = drawFrom(seededWords(seed)).below;
  let decoded = 0;
  // Refusals are the rule here, and a stack trace costs more than a decoding.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  for (let run = 0; run < runs; run++) {
    const input = mutate(bytes, draw);
    try {
      const again = codec.encode(codec.decode(input));
      decoded++;
      if (Buffer.compare(again, input) !== 0) throw new Error('decodes, but encodes to other bytes');
    } catch (error) {
      if (error instanceof DecodeError) continue;
      throw new Error(
        `${name}: ${error instanceof Error ? error.message : error}\n${Buffer.from(input).toString('hex')}`,
        { cause: error },
      );
    }
  }
  Error.stackTraceLimit = stackTraceLimit;
  return { runs, decoded };
}

/** A flipped bit, a changed byte, a cut, an extension, a copied stretch, or noise; several at once now and then. */
export function mutate(bytes: Uint8Array, draw: (below: number) => number): Uint8Array {
  let input: Uint8Array = bytes.slice();
  do {
    const at = draw(input.length + 1);
    switch (draw(8)) {
      case 0:
        input = input.slice(0, at);
        break;
      case 1:
        input = concatBytes(input.subarray(0, at), Uint8Array.of(draw(256)), input.subarray(at));
        break;
      case 2:
        input.copyWithin(at, draw(input.length + 1), draw(input.length + 1));
        break;
      case 3:
        input = new Uint8Array(draw(200)).map(() => draw(256));
        break;
      case 4:
        // The first bytes carry kinds, counts and lengths.
        if (input.length > 0) input[draw(Math.min(24, input.length))] = draw(256);
        break;
      default:
        if (at < input.length) input[at] = draw(2) === 0 ? (input[at] as number) ^ (1 << draw(8)) : draw(256);
    }
  } while (draw(4) === 0);
  return input;
}
