/** CP-ABE as an engine, of one authority: every slot and every registration is an attribute, as positions are in the paper. */
import type { AttributeKeyIssuer, SeedSealing, Suite } from '@basa/masking';
import { edgeAttribute, sealingContext, selfAttribute, selfContext } from './naming.ts';
import type { BufferIssuer, BufferSealing } from './sealing.ts';

/** Bytes that are not a key at all make an opener throw a `DecodeError`. */
export function attributeSealing(suite: Suite, sealing: SeedSealing): BufferSealing {
  return {
    name: sealing.name,
    sealedBytes: sealing.sealedBytes,
    selfNameBytes: 0,
    sealEdge: ({ ctx }, slot, { role, joinTag }, seed) =>
      sealing.seal(seed, edgeAttribute(suite, ctx, slot), sealingContext(ctx, role, joinTag, slot)),
    edgeOpener:
      ({ ctx }, slot, [only]) =>
      (sealed, { role, joinTag }) =>
        only && sealing.open(sealed, only.key, sealingContext(ctx, role, joinTag, slot)),
    sealSelf: ({ ctx }, registration, seed) =>
      sealing.seal(seed, selfAttribute(suite, ctx, registration), selfContext(ctx, registration)),
    openSelf({ ctx }, registration, sealed, [only]) {
      const seed = only && sealing.open(sealed, only.key, selfContext(ctx, registration));
      return seed && { seed, by: [only.authority] };
    },
  };
}

const NONE = new Uint8Array();

export function attributeIssuer(suite: Suite, issuer: AttributeKeyIssuer): BufferIssuer {
  const { publicKey } = issuer;
  return {
    publicKey,
    // biome-ignore lint/correctness/useYield: there is no list to make
    *slotKeys() {
      return NONE;
    },
    sealingKey: () => publicKey,
    keysOf: ({ ctx }) => ({
      edge: (slot) => issuer.issue(edgeAttribute(suite, ctx, slot)),
      self: (registration, selfName) =>
        selfName.length === 0 ? issuer.issue(selfAttribute(suite, ctx, registration)) : undefined,
    }),
    derive: (label) => issuer.derive(label),
  };
}
