/**
 * The KEM of Sakai and Kasahara with the check of Fujisaki and Okamoto, and the AEAD behind it.
 *
 *     U(48) V(32) seed and tag(48), 128 bytes
 */
import type { Suite } from '@basa/masking';
import { ascii, concatBytes, equalBytes, SEED_BYTES } from '@basa/masking';
import { TABLES_PAY_FROM } from '../bases.ts';
import type { FixedBase, G1, Group, GT, Scalar } from '../group.ts';
import { G1_BYTES, WIDE_BYTES } from '../group.ts';
import { kemKey, openOnce, sealOnce, TAG_BYTES } from '../kem.ts';
import type { SeedOpener } from '../opener-cache.ts';
import { scalarFrom } from '../random-scalar.ts';
import type { IdentityKey, IdentityPublicKey } from './keys.ts';
import { IDENTITY_SALT, identityScalar } from './keys.ts';

export const SIGMA_BYTES = 32;
const HEADER_BYTES = G1_BYTES + SIGMA_BYTES;
export const IDENTITY_SEALED_BYTES = HEADER_BYTES + SEED_BYTES + TAG_BYTES;
const IDENTITY_LABEL = 'identity';

/** Seals and opens single seeds; the tables make both faster. */
export class IdentityKem {
  readonly #group: Group;
  readonly #suite: Suite;
  readonly #publicKey: IdentityPublicKey;
  /** e(g1, g2) */
  readonly #pairing: GT;
  #commitTables: { readonly p: FixedBase<G1>; readonly g1: FixedBase<G1> } | undefined;
  #pairingTable: FixedBase<GT> | undefined;
  #count = { commits: 0, seals: 0 };

  constructor(publicKey: IdentityPublicKey, group: Group, suite: Suite) {
    this.#publicKey = publicKey;
    this.#group = group;
    this.#suite = suite;
    this.#pairing = group.pairingProduct([{ g1: group.g1.generator, g2: group.g2.generator }]);
  }

  /** At once; otherwise each is built when it has paid to have had it. */
  buildTables(): void {
    this.#buildCommitTables();
    this.#pairingTable ??= this.#group.gt.fixedBase(this.#pairing);
  }

  destroyTables(): void {
    for (const table of [this.#commitTables?.p, this.#commitTables?.g1, this.#pairingTable]) table?.destroy();
    this.#commitTables = undefined;
    this.#pairingTable = undefined;
    this.#count = { commits: 0, seals: 0 };
  }

  #buildCommitTables(): void {
    const { g1 } = this.#group;
    this.#commitTables ??= { p: g1.fixedBase(this.#publicKey.p), g1: g1.fixedBase(g1.generator) };
  }

  seal(request: { sigma: Uint8Array; seed: Uint8Array; attribute: Uint8Array; context: Uint8Array }): Uint8Array {
    const { sigma, seed, attribute, context } = request;
    const { g1, gt } = this.#group;
    if (++this.#count.seals === TABLES_PAY_FROM) this.buildTables();
    const r = this.#exponent(sigma, attribute);
    const u = g1.encode(this.#commit(r, attribute));
    const shared = this.#pairingTable?.multiply(r) ?? gt.power(this.#pairing, r); // e(g1, g2)^r
    this.#group.scalars.wipe(r);
    const header = concatBytes(u, xor(sigma, this.#pad(shared))); // V = sigma xor H2(e(g1, g2)^r)
    const key = kemKey({ label: IDENTITY_LABEL, secret: sigma, header, context }, this.#suite);
    return concatBytes(header, sealOnce(key, seed, this.#suite));
  }

  /** Opens what was sealed to this key. */
  opener({ attribute, d }: IdentityKey): SeedOpener {
    const pairing = this.#group.pairingWith(d);
    return (sealed, context) => this.#open({ attribute, pairing }, sealed, context);
  }

  #open(
    { attribute, pairing }: { readonly attribute: Uint8Array; readonly pairing: (g1: G1) => GT },
    sealed: Uint8Array,
    context: Uint8Array,
  ): Uint8Array | undefined {
    if (sealed.length !== IDENTITY_SEALED_BYTES) return undefined;
    const { g1 } = this.#group;
    const header = sealed.subarray(0, HEADER_BYTES);
    const uBytes = sealed.subarray(0, G1_BYTES);
    const u = g1.decode(uBytes);
    if (u === undefined) return undefined;
    const shared = pairing(u); // e(U, d) = e(g1, g2)^r
    const sigma = xor(header.subarray(G1_BYTES), this.#pad(shared));
    // Fujisaki-Okamoto: U must be what an honest sender makes of sigma.
    const r = this.#exponent(sigma, attribute);
    const expected = g1.encode(this.#commit(r, attribute));
    this.#group.scalars.wipe(r);
    if (!equalBytes(expected, uBytes)) return undefined;
    const key = kemKey({ label: IDENTITY_LABEL, secret: sigma, header, context }, this.#suite);
    return openOnce(key, sealed.subarray(HEADER_BYTES), this.#suite);
  }

  /** U = (P g1^H1(attribute))^r */
  #commit(r: Scalar, attribute: Uint8Array): G1 {
    const { g1, scalars } = this.#group;
    if (++this.#count.commits === TABLES_PAY_FROM) this.#buildCommitTables();
    const h = identityScalar(attribute, { group: this.#group, suite: this.#suite });
    const rh = scalars.multiply(r, h);
    const left = this.#commitTables?.p.multiply(r) ?? g1.multiply(this.#publicKey.p, r);
    const right = this.#commitTables?.g1.multiply(rh) ?? g1.multiply(g1.generator, rh);
    scalars.wipe(rh);
    return g1.add(left, right);
  }

  /** r = H3(sigma, attribute). Deviates: the paper hashes sigma alone; the attribute keeps identities apart. */
  #exponent(sigma: Uint8Array, attribute: Uint8Array): Scalar {
    const info = concatBytes(ascii('H3'), attribute);
    return scalarFrom(this.#group, this.#suite.hkdf({ secret: sigma, salt: IDENTITY_SALT, info, length: WIDE_BYTES }));
  }

  /** H2 of an element of GT. */
  #pad(shared: GT): Uint8Array {
    const secret = this.#group.gt.encode(shared);
    const pad = this.#suite.hkdf({ secret, salt: IDENTITY_SALT, info: ascii('H2'), length: SIGMA_BYTES });
    secret.fill(0);
    return pad;
  }
}

function xor(a: Uint8Array, b: Uint8Array): Uint8Array {
  return a.map((byte, i) => byte ^ (b[i] as number));
}
