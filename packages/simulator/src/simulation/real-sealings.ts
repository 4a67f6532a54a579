/** CP-ABE for a paper federation, with fresh keys of an authority, and its operations one by one. */
import { abeIssuer, abeSealing, createMclGroup, decodePublicKey, setup } from '@basa/abe';
import { nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import type { PaperSealings } from '../federation/world.ts';

const group = await createMclGroup();
const tools = { group, suite: nodeSuite, randomBytes: nodeRandomBytes };

/** CP-ABE with attributes only, as in `paper` mode. */
export function paperAbeSealings(): PaperSealings {
  const issuer = abeIssuer(setup(tools).masterKey, tools);
  return { issuer, sealing: abeSealing({ publicKey: decodePublicKey(issuer.publicKey, group), ...tools }) };
}

export interface SealingTrial {
  readonly sealedBytes: number;
  readonly keyBytes: number;
  readonly seal: () => void;
  /** With a key that was decoded before. */
  readonly open: () => void;
  /** The key of a position, at the authority. */
  readonly issue: () => void;
}

/** The operations of a sealing, one call each, so that they can be timed. */
export function sealingTrial({ issuer, sealing }: PaperSealings): SealingTrial {
  const [seed, attribute, context] = [nodeRandomBytes(32), nodeRandomBytes(32), nodeRandomBytes(70)];
  const key = issuer.issue(attribute);
  const sealed = sealing.seal(seed, attribute, context);
  return {
    sealedBytes: sealed.length,
    keyBytes: key.length,
    seal: () => void sealing.seal(seed, attribute, context),
    open() {
      if (sealing.open(sealed, key, context) === undefined) throw new Error(`${sealing.name}: a seed did not open`);
    },
    issue: () => void issuer.issue(attribute),
  };
}
