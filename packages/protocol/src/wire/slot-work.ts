/** Slot keys with asynchronous key agreement: the same bytes as `slot-sealing.ts`, with all seeds of a batch at a time. */
import type { KeyResult, KeyWork, Suite } from '@basa/masking';
import type { SealingResult, SealingWork } from './sealing-work.ts';
import { slotSteps } from './slot-sealing.ts';

/** X25519 of the platform, which may answer synchronously. */
export interface AsyncX25519 {
  /** The key object of 32 secret bytes, which are copied. */
  key(secretKey: Uint8Array): Promise<AsyncX25519Key> | AsyncX25519Key;
}

interface AsyncX25519Key {
  readonly publicKey: Uint8Array;
  /** Undefined if the peer's key is malformed or of small order. */
  agree(publicKey: Uint8Array): Promise<Uint8Array | undefined> | Uint8Array | undefined;
}

/** One result for each work. */
export function agreeOnKeys(curve: AsyncX25519, work: readonly KeyWork[]): Promise<readonly KeyResult[]> {
  return Promise.all(
    work.map(async ({ secret, peers }) => {
      const key = await curve.key(secret);
      return { publicKey: key.publicKey, shared: await Promise.all(peers.map((peer) => key.agree(peer))) };
    }),
  );
}

/** Carries out the work of a contribution. The list of the buffer must have been checked. */
export function slotWork(suite: Suite, curve: AsyncX25519): (work: SealingWork) => Promise<SealingResult> {
  return async (work) => {
    const steps = slotSteps(suite, work);
    let next = steps.next();
    while (next.done !== true) next = steps.next(await agreeOnKeys(curve, next.value));
    return next.value;
  };
}
