/** What CP-ABE needs of the pairing: loaded for tasks that use it. */
export { abeSealing, createMclGroup, decodePublicKey, EncryptionPool, warmUpPairing } from '@basa/abe';
