/** Key agreement that may be asynchronous, as it is in browsers. */
import type { KeyResult, KeyWork } from '@basa/masking';

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
