/** The authority's side of `identitySealing`. */
import type { Suite } from '@basa/masking';
import type { Group } from '../group.ts';
import type { WipeableIssuer } from '../wipeable-issuer.ts';
import { wipeableIssuer } from '../wipeable-issuer.ts';
import { encodeIdentityKey, encodeIdentityMasterKey, encodeIdentityPublicKey } from './codec.ts';
import type { IdentityMasterKey } from './keys.ts';
import { identityKeyGen, identityPublicKeyOf } from './keys.ts';

/** Takes the master key over: `wipe` overwrites it. */
export function identityIssuer(
  masterKey: IdentityMasterKey,
  { group, suite }: { readonly group: Group; readonly suite: Suite },
): WipeableIssuer {
  return wipeableIssuer(
    {
      publicKey: encodeIdentityPublicKey(identityPublicKeyOf(masterKey, group), group),
      masterKeyBytes: encodeIdentityMasterKey(masterKey, group),
      issue: (attribute) => encodeIdentityKey(identityKeyGen({ masterKey, attribute }, { group, suite }), group),
      wipeMasterKey: () => group.scalars.wipe(masterKey.z),
    },
    suite,
  );
}
