/**
 * A second engine behind `SeedSealing`, for policies of one attribute: secure against chosen ciphertexts, with half the
 * bytes and a third of the pairings of CP-ABE (decision 012).
 */
import type { RandomBytes, Suite } from '@basa/masking';
import type { Group } from '../group.ts';
import type { SeedOpener } from '../opener-cache.ts';
import { openerCache } from '../opener-cache.ts';
import { attributeBytes } from '../policy.ts';
import type { CachedSealing } from '../sealing.ts';
import { checkSeed, warmUpPairing } from '../sealing.ts';
import { decodeIdentityKey } from './codec.ts';
import { IDENTITY_SEALED_BYTES, IdentityKem, SIGMA_BYTES } from './kem.ts';
import type { IdentityPublicKey } from './keys.ts';

/** `open` answers as that of `abeSealing`: undefined for hostile bytes, a `DecodeError` for a malformed key. */
export function identitySealing(tools: {
  readonly publicKey: IdentityPublicKey;
  readonly group: Group;
  readonly suite: Suite;
  readonly randomBytes: RandomBytes;
}): CachedSealing {
  const { publicKey, group, suite, randomBytes } = tools;
  const kem = new IdentityKem(publicKey, group, suite);
  const opener = (attributeKey: Uint8Array): SeedOpener => kem.opener(decodeIdentityKey(attributeKey, group));
  const cache = openerCache(opener);
  return {
    name: `identity KEM (Sakai-Kasahara, ${group.name})`,
    sealedBytes: IDENTITY_SEALED_BYTES,
    seal(seed, attribute, context) {
      checkSeed(seed);
      attributeBytes(attribute);
      return kem.seal({ sigma: randomBytes(SIGMA_BYTES), seed, attribute, context });
    },
    open: (sealed, attributeKey, context) => cache.opener(attributeKey)(sealed, context),
    opener,
    warmUp() {
      kem.buildTables();
      warmUpPairing(group);
    },
    forget: cache.forget,
    destroy() {
      cache.forget();
      kem.destroyTables();
    },
  };
}
