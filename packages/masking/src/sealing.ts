/** The port through which a seed is sealed to the holder of one attribute, and a version of it that hides nothing. */
import { concatBytes, equalBytes } from './bytes.ts';

/**
 * Encrypts seeds to an attribute (`Encrypt` of the paper with a policy of one attribute), as CP-ABE does. `context` is
 * authenticated with the seed, so that a ciphertext opens only in its intended context.
 */
export interface SeedSealing {
  readonly name: string;
  /** Length of every sealed seed. */
  readonly sealedBytes: number;
  seal(seed: Uint8Array, attribute: Uint8Array, context: Uint8Array): Uint8Array;
  /**
   * Returns the seed, or undefined if the key or the context is not the one it was sealed for, or the bytes are not a
   * sealed seed. Key bytes that are not a key at all are their issuer's fault and throw a `DecodeError`.
   */
  open(sealed: Uint8Array, attributeKey: Uint8Array, context: Uint8Array): Uint8Array | undefined;
}

/** The other side of `SeedSealing`: holds a master key and issues the keys of attributes, the same key each time. */
export interface AttributeKeyIssuer {
  /** The key with which users seal. */
  readonly publicKey: Uint8Array;
  /** `KeyGen` of the paper for one attribute. */
  issue(attribute: Uint8Array): Uint8Array;
}

/**
 * Shows the shape of a protocol run without its secrecy: anyone who holds the ciphertext reads the seed. The key of an
 * attribute is the attribute. For examples, and for simulations that charge the cost of real sealing.
 */
export function unsafeTransparentSealing(lengths: {
  readonly seed: number;
  readonly attribute: number;
  readonly context: number;
}): SeedSealing {
  const sealedBytes = lengths.seed + lengths.attribute + lengths.context;
  return {
    name: 'transparent (unsafe)',
    sealedBytes,
    seal(seed, attribute, context) {
      checkLength('seed', seed, lengths.seed);
      checkLength('attribute', attribute, lengths.attribute);
      checkLength('context', context, lengths.context);
      return concatBytes(seed, attribute, context);
    },
    open(sealed, attributeKey, context) {
      const label = concatBytes(attributeKey, context);
      if (sealed.length !== sealedBytes || !equalBytes(sealed.subarray(lengths.seed), label)) return undefined;
      return sealed.slice(0, lengths.seed);
    },
  };
}

/** The issuer that goes with it: the key of an attribute is the attribute. */
export function unsafeTransparentIssuer(): AttributeKeyIssuer {
  return { publicKey: new Uint8Array(), issue: (attribute) => attribute };
}

function checkLength(name: string, bytes: Uint8Array, expected: number): void {
  if (bytes.length !== expected) throw new RangeError(`${name} must be ${expected} bytes, got ${bytes.length}`);
}
