/** What sealing needs of the pairing: four fifths of the client's code, and loaded when a client connects. */
export {
  abeSealing,
  createMclGroup,
  decodeIdentityPublicKey,
  decodePublicKey,
  EncryptionPool,
  identitySealing,
  warmUpPairing,
} from '@basa/abe';
