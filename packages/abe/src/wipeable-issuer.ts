/** An issuer around a master key. Everything it uses is derived from the master key, so that is the only secret to keep. */
import { type AttributeKeyIssuer, ascii, concatBytes, type Suite } from '@basa/masking';

/** An issuer that can forget its secrets when its epoch has ended. */
export interface WipeableIssuer extends AttributeKeyIssuer {
  /** Overwrites the master key and all that was derived from it; the issuer throws from now on. */
  wipe(): void;
}

const SALT = ascii('basa-abe-v1 issuer');
const KEY_BYTES = 32;

/** Takes ownership of `masterKeyBytes` and wipes them; `issue` gets a PRF key that belongs to this master key only. */
export function wipeableIssuer(
  parts: {
    readonly publicKey: Uint8Array;
    readonly masterKeyBytes: Uint8Array;
    issue(attribute: Uint8Array, prfKey: Uint8Array): Uint8Array;
    wipeMasterKey(): void;
  },
  suite: Suite,
): WipeableIssuer {
  const { publicKey, masterKeyBytes } = parts;
  const prfKey = suite.hkdf({ secret: masterKeyBytes, salt: SALT, info: ascii('prf key'), length: KEY_BYTES });
  masterKeyBytes.fill(0);
  let isWiped = false;
  const alive = (): Uint8Array => {
    if (isWiped) throw new Error('the issuer has been wiped');
    return prfKey;
  };
  return {
    publicKey,
    issue: (attribute) => parts.issue(attribute, alive()),
    derive(label) {
      const info = concatBytes(ascii('derive'), suite.sha256(label)); // by its hash, because it may be long
      return suite.hkdf({ secret: alive(), salt: SALT, info, length: KEY_BYTES });
    },
    wipe() {
      isWiped = true;
      prfKey.fill(0);
      parts.wipeMasterKey();
    },
  };
}
