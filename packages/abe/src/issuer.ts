/** The authority's side of `abeSealing`: keys of single attributes, the same bytes for the same attribute. */
import type { Suite } from '@basa/masking';
import type { Group } from './group.ts';
import { encodeAttributeKey, encodeMasterKey, encodePublicKey } from './key-codec.ts';
import { keyGen } from './key-gen.ts';
import { prfKeyRandomness } from './key-randomness.ts';
import type { MasterKey } from './keys.ts';
import { publicKeyOf, wipeMasterKey } from './setup.ts';
import { type WipeableIssuer, wipeableIssuer } from './wipeable-issuer.ts';

/** Takes the master key over: `wipe` overwrites it. */
export function abeIssuer(
  masterKey: MasterKey,
  { group, suite }: { readonly group: Group; readonly suite: Suite },
): WipeableIssuer {
  return wipeableIssuer(
    {
      publicKey: encodePublicKey(publicKeyOf(masterKey, group), group),
      masterKeyBytes: encodeMasterKey(masterKey, group),
      issue(attribute, prfKey) {
        const randomness = prfKeyRandomness({ prfKey, suite });
        return encodeAttributeKey(keyGen({ masterKey, attributes: [attribute], randomness }, { group }), group);
      },
      wipeMasterKey: () => wipeMasterKey(group, masterKey),
    },
    suite,
  );
}
