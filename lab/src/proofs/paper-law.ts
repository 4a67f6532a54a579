/**
 * The general law of `paper` mode (docs/threat-model.md): if the keys of some positions leaked before honest users came
 * to these positions, the server learns certain updates exactly. Here it is computed from the masks of the real code.
 */
import { equalBytes, type MaskPlan, RING_32, SEED_BYTES, toHex } from '@basa/masking';
import { granted, millis, type UserId } from '@basa/protocol';
import type { PaperConnection } from '@basa/protocol/paper';
import { PAPER_LEASE_MS, PaperFederation } from '@basa/simulator';
import { describeCombination, learnedCombinations } from '@basa/simulator/attacks';
import { nodeEnvironment } from '@basa/simulator/node';

/** One buffer of the paper whose server sees everything, with colluders who take a key and go silent. */
class LeakyBuffer {
  readonly #federation: PaperFederation;
  readonly #keys: Uint8Array[] = [];
  readonly #sealed: Uint8Array[] = [];
  readonly #plans: MaskPlan[] = [];
  #people = 0;

  constructor(bufferSize: number) {
    this.#federation = new PaperFederation(nodeEnvironment, { bufferSize, version: 0, modulus: RING_32 });
  }

  /** A new user takes the position; the one before is late by then. */
  #connect(): { readonly user: UserId; readonly connection: PaperConnection } {
    const federation = this.#federation;
    const user = nodeEnvironment.tools.suite.sha256(Uint8Array.of(3, this.#people++)) as UserId;
    if (federation.buffer.lease !== undefined) federation.now = millis(federation.now + PAPER_LEASE_MS);
    return { user, connection: granted(federation.connect(user)) };
  }

  /** A colluder takes the position and its key, and goes silent. */
  leakKey(): void {
    const { user, connection } = this.#connect();
    this.#keys.push(this.#federation.key(user, connection.ticket));
  }

  /** An honest user is accepted at the next position. */
  accept(): void {
    const { user, connection } = this.#connect();
    const delta = new Float32Array(this.#federation.dimension).fill(1);
    const prepared = this.#federation.contribute(user, connection, delta);
    this.#plans.push(prepared.plan);
    this.#sealed.push(...prepared.upload.ciphertexts);
    granted(this.#federation.upload(user, prepared));
  }

  /** The combinations of updates that remain once every mask with a known seed is subtracted. */
  learned(): readonly string[] {
    const known = new Set(this.#keys.flatMap((key) => this.#sealed.flatMap((sealed) => opened(sealed, key) ?? [])));
    const symbols = new Map<string, number>();
    const rows = this.#plans.map(({ terms }, input) => {
      const masks = new Map<number, number>();
      for (const { seed, sign } of terms) {
        const name = toHex(seed.reveal());
        if (known.has(name)) continue;
        const symbol = symbols.get(name) ?? symbols.size;
        symbols.set(name, symbol);
        masks.set(symbol, sign);
      }
      return { inputs: new Map([[input, 1]]), masks };
    });
    return learnedCombinations(rows).map((one) => describeCombination(one, (position) => `x${position}`));
  }
}

/** The seed in a ciphertext, as hex. A ciphertext of the transparent sealing contains the seed and its recipient in clear. */
function opened(sealed: Uint8Array, key: Uint8Array): string | undefined {
  const isForKey = equalBytes(sealed.subarray(SEED_BYTES, 2 * SEED_BYTES), key);
  return isForKey ? toHex(sealed.subarray(0, SEED_BYTES)) : undefined;
}

/** Returns the information that the server gets about K honest users if the keys of these positions leaked before. */
export function learnedInPaper(bufferSize: number, leakedKeys: ReadonlySet<number>): readonly string[] {
  const buffer = new LeakyBuffer(bufferSize);
  for (let position = 0; position < bufferSize; position++) {
    if (leakedKeys.has(position)) buffer.leakKey();
    buffer.accept();
  }
  return buffer.learned();
}

/** The law: m is the largest position whose key did not leak, or 0; the sum up to m, and each x_k with k > m individually. */
export function paperLaw(bufferSize: number, leakedKeys: ReadonlySet<number>): readonly string[] {
  const positions = Array.from({ length: bufferSize }, (_, position) => position);
  const last = Math.max(0, ...positions.filter((position) => !leakedKeys.has(position)));
  const name = (position: number) => `x${position}`;
  return [
    positions
      .slice(0, last + 1)
      .map(name)
      .join(' + '),
    ...positions.slice(last + 1).map(name),
  ];
}
