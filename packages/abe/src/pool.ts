/**
 * The part of encryption that depends neither on the attribute nor on the plaintext, made ahead (offline/online
 * encryption). Each part serves one ciphertext: anyone who saw two ciphertexts with the same s could open both with a
 * key for either.
 */
import { type RandomBytes, Secret } from '@basa/masking';
import { type Bases, plainBases, TABLES_PAY_FROM, tableBases } from './bases.ts';
import type { G1, G2, Group, Scalar } from './group.ts';
import type { PublicKey } from './keys.ts';
import { randomScalar } from './random-scalar.ts';

/** Serves one ciphertext; the caller that takes it wipes s and the secret after use. */
export interface PreparedPart {
  readonly s: Scalar;
  /** C = h^s */
  readonly c: G1;
  /** g2^s, which is C_y of a policy of one attribute. */
  readonly g2s: G2;
  /** A^s */
  readonly secret: Secret;
}

export class EncryptionPool {
  readonly publicKey: PublicKey;
  readonly #group: Group;
  readonly #randomBytes: RandomBytes;
  readonly #parts: PreparedPart[] = [];
  #bases: Bases;
  #hasTables = false;
  #made = 0;

  constructor(publicKey: PublicKey, { group, randomBytes }: { group: Group; randomBytes: RandomBytes }) {
    this.publicKey = publicKey;
    this.#group = group;
    this.#randomBytes = randomBytes;
    this.#bases = plainBases(publicKey, group);
  }

  /** The number of parts that are ready. */
  get size(): number {
    return this.#parts.length;
  }

  /** Builds the tables of the fixed bases (1.4 MB with mcl) now; otherwise they are built at the 30th encryption. */
  buildTables(): void {
    if (this.#hasTables) return;
    this.#bases = tableBases(this.publicKey, this.#group);
    this.#hasTables = true;
  }

  /** Makes `count` more parts: call it while the process is idle. */
  prepare(count: number): void {
    for (let i = 0; i < count; i++) this.#parts.push(this.#make());
  }

  /** Returns a part that no other caller gets. If no part is ready, makes one now. */
  take(): PreparedPart {
    return this.#parts.pop() ?? this.#make();
  }

  /** g2^by, through the table if there is one. */
  g2Power(by: Scalar): G2 {
    return this.#bases.g2(by);
  }

  /** Wipes the parts that are ready and frees the tables. */
  destroy(): void {
    for (const part of this.#parts.splice(0)) {
      this.#group.scalars.wipe(part.s);
      part.secret.wipe();
    }
    this.#bases.destroy();
    this.#bases = plainBases(this.publicKey, this.#group);
    this.#hasTables = false;
    this.#made = 0;
  }

  #make(): PreparedPart {
    if (++this.#made === TABLES_PAY_FROM) this.buildTables();
    const s = randomScalar(this.#group, this.#randomBytes);
    const secret = new Secret(this.#group.gt.encode(this.#bases.a(s)));
    return { s, c: this.#bases.h(s), g2s: this.#bases.g2(s), secret };
  }
}
