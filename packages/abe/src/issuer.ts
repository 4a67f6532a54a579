/** The authority's side of `abeSealing`: keys of single attributes, the same bytes for the same attribute. */
import { type AttributeKeyIssuer, ascii, type Suite } from '@basa/masking';
import type { Group } from './group.ts';
import { encodeAttributeKey, encodeMasterKey, encodePublicKey } from './key-codec.ts';
import { keyGen } from './key-gen.ts';
import { prfKeyRandomness } from './key-randomness.ts';
import type { MasterKey } from './keys.ts';
import { publicKeyOf, wipeMasterKey } from './setup.ts';

/** An issuer that can forget its secrets. */
export interface AbeIssuer extends AttributeKeyIssuer {
  /** Overwrites the master key and all that was derived from it; the issuer throws from now on. */
  wipe(): void;
}

const SALT = ascii('basa-abe-v1 issuer');
const KEY_BYTES = 32;

/** Takes the master key over: `wipe` overwrites it. The randomness of keys is derived from it, so it is the only secret to keep. */
export function abeIssuer(
  masterKey: MasterKey,
  { group, suite }: { readonly group: Group; readonly suite: Suite },
): AbeIssuer {
  const secret = encodeMasterKey(masterKey, group);
  const prfKey = suite.hkdf({ secret, salt: SALT, info: ascii('prf key'), length: KEY_BYTES });
  secret.fill(0);
  const randomness = prfKeyRandomness({ prfKey, suite });
  return {
    publicKey: encodePublicKey(publicKeyOf(masterKey, group), group),
    issue: (attribute) =>
      encodeAttributeKey(keyGen({ masterKey, attributes: [attribute], randomness }, { group }), group),
    wipe() {
      prfKey.fill(0);
      wipeMasterKey(group, masterKey);
    },
  };
}
