/** CP-ABE by Bethencourt, Sahai and Waters (2007) on BLS12-381, with mcl as its library. noble is `@basa/abe/noble`. */
export type { Ciphertext, Encapsulation, LeafPart } from './ciphertext.ts';
export { decodeCiphertext, decodeEncapsulation, encodeCiphertext, encodeEncapsulation } from './ciphertext-codec.ts';
export type { Decrypted, DecryptTools } from './decrypt.ts';
export { decapsulate, decrypt } from './decrypt.ts';
export { delegate } from './delegate.ts';
export type { EncapsulateRequest, EncryptTools } from './encrypt.ts';
export { encapsulate, encrypt } from './encrypt.ts';
export type {
  Element as GroupElement,
  FixedBase,
  G1,
  G2,
  Group,
  GT,
  Kind as GroupElementKind,
  PairingInput,
  Points,
  Scalar,
  Scalars,
  TargetGroup,
} from './group.ts';
export { ATTRIBUTE_DST } from './group.ts';
export { abeIssuer } from './issuer.ts';
export {
  decodeAttributeKey,
  decodeMasterKey,
  decodePublicKey,
  encodeAttributeKey,
  encodeMasterKey,
  encodePublicKey,
} from './key-codec.ts';
export { keyGen } from './key-gen.ts';
export type { KeyRandomness } from './key-randomness.ts';
export { freshKeyRandomness, prfKeyRandomness } from './key-randomness.ts';
export type { AttributeKey, KeyComponent, MasterKey, PublicKey } from './keys.ts';
export { createMclGroup } from './mcl/group.ts';
export type { SeedOpener } from './opener-cache.ts';
export type { AttributeLeaf, Policy, Threshold } from './policy.ts';
export { and, attribute, or, satisfies, threshold } from './policy.ts';
export { formatPolicy } from './policy-format.ts';
export { PolicySyntaxError } from './policy-lexer.ts';
export { parsePolicy } from './policy-parser.ts';
export { EncryptionPool } from './pool.ts';
export type { CachedSealing } from './sealing.ts';
export { abeSealing, warmUpPairing } from './sealing.ts';
export type { KeyPair } from './setup.ts';
export { publicKeyOf, setup, wipeMasterKey } from './setup.ts';
export { verifyKey } from './verify-key.ts';
export type { WipeableIssuer } from './wipeable-issuer.ts';
