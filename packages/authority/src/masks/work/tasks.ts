/** The tasks of the threads of the one-shot mode, as plain data. Requests travel as bytes and are decoded in the thread. */
import type { HolderSecret } from '@basa/masking';
import type { Ctx, Refused } from '@basa/protocol';
import type { Part } from '@basa/protocol/policy';
import type { Verdict } from '@basa/protocol/wire';

/** The secrets of one live epoch of this authority, by the hash of its statement. The thread overwrites them when it is done. */
interface EpochSecret extends HolderSecret {
  readonly statement: Uint8Array;
}

export function wipeSecrets(secrets: readonly EpochSecret[]): void {
  for (const { agreement, decapsulation } of secrets) {
    agreement.fill(0);
    decapsulation?.fill(0);
  }
}

/** Some uploads of a request, and the secrets that open their parts. */
export interface UploadsTask {
  /** An encoded `inspectRequest` or `releaseRequest`. */
  readonly request: Uint8Array;
  readonly policy: Uint8Array;
  readonly authority: number;
  readonly secrets: readonly EpochSecret[];
  /** The range of uploads: `from` included, `to` excluded. */
  readonly from: number;
  readonly to: number;
}

/** The inputs of the noise of a sum, in a task whose authority adds it. */
export interface NoiseSource {
  /** Of all epochs that the batch names, by ascending statement. Overwritten by the thread. */
  readonly secrets: readonly Uint8Array[];
  readonly ctx: Ctx;
}

export type MaskTask =
  | (UploadsTask & { readonly kind: 'examine' })
  /** The sums of the masks of these parts. */
  | (UploadsTask & { readonly kind: 'sum'; readonly parts: readonly Part[] })
  /** One part: the sums over all shards of a batch become one, packed as it travels. */
  | {
      readonly kind: 'pack';
      readonly policy: Uint8Array;
      readonly shards: readonly Uint32Array[];
      readonly noise: NoiseSource | undefined;
    };

/** The guard words of a good upload, or the reason why it is not good. */
export type Examination = Verdict['guards'] | Refused;

export interface PackedSum {
  readonly packed: Uint8Array;
  readonly hash: Uint8Array;
}

export type MaskResult =
  | { readonly kind: 'examined'; readonly uploads: readonly Examination[] }
  /** In the order of the parts. */
  | { readonly kind: 'summed'; readonly sums: readonly Uint32Array[] }
  | { readonly kind: 'refused'; readonly refused: Refused }
  | ({ readonly kind: 'packed' } & PackedSum);
