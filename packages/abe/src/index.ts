/** CP-ABE by Bethencourt, Sahai and Waters (2007) on BLS12-381, with mcl as its library. noble is `@basa/abe/noble`. */
export type { Ciphertext, Encapsulation, LeafPart } from './ciphertext.ts';
export { decodeCiphertext, decodeEncapsulation, encodeCiphertext, encodeEncapsulation } from './ciphertext-codec.ts';
export { type Decrypted, type DecryptTools, decapsulate, decrypt } from './decrypt.ts';
export { type EncapsulateRequest, type EncryptTools, encapsulate, encrypt } from './encrypt.ts';
export {
  ATTRIBUTE_DST,
  type Element as GroupElement,
  type G1,
  type G2,
  type Group,
  type GT,
  type Kind as GroupElementKind,
  type PairingInput,
  type Points,
  type Scalar,
  type Scalars,
  type TargetGroup,
} from './group.ts';
export { type AbeIssuer, abeIssuer } from './issuer.ts';
export {
  decodeAttributeKey,
  decodeMasterKey,
  decodePublicKey,
  encodeAttributeKey,
  encodeMasterKey,
  encodePublicKey,
} from './key-codec.ts';
export { keyGen } from './key-gen.ts';
export { freshKeyRandomness, type KeyRandomness, prfKeyRandomness } from './key-randomness.ts';
export type { AttributeKey, KeyComponent, MasterKey, PublicKey } from './keys.ts';
export { createMclGroup } from './mcl/group.ts';
export { type AttributeLeaf, and, attribute, or, type Policy, satisfies, type Threshold, threshold } from './policy.ts';
export { formatPolicy } from './policy-format.ts';
export { PolicySyntaxError } from './policy-lexer.ts';
export { parsePolicy } from './policy-parser.ts';
export { abeSealing, type CachedSealing, warmUpPairing } from './sealing.ts';
export { type KeyPair, publicKeyOf, setup, wipeMasterKey } from './setup.ts';
export { verifyKey } from './verify-key.ts';
