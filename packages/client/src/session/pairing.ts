/** The parts of the pairing that CP-ABE needs: loaded for tasks that use it. */
export { abeSealing, createMclGroup, decodePublicKey, EncryptionPool, warmUpPairing } from '@basa/abe';
