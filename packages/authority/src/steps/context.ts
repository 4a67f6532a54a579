/** Everything that an authority works with: made once when it starts, and handed to every route and step. */
import type { RandomBytes, Signer } from '@basa/masking';
import type { BasaEvent, Millis, TaskId } from '@basa/protocol';
import type { Queue, Service, SigningDevice, TokenBuckets } from '@basa/service';
import type { ExaminedUploads, MaskThreads } from '../masks/mask-threads.ts';
import type { AuthorityStore } from '../store/store.ts';
import type { Units } from '../units/units.ts';
import type { Audit } from './audit.ts';
import type { Tasks } from './tasks.ts';
import type { AuthorityWatch } from './watch.ts';

/** Returns true if the device may enrol. */
export type EnrolmentHook = (task: TaskId, device: SigningDevice, proof: string | undefined) => Promise<boolean>;

export interface AuthorityContext {
  readonly service: Service;
  readonly tasks: Tasks;
  readonly store: AuthorityStore;
  readonly units: Units;
  /** Votes, releases, and the beginning and end of epochs: one at a time. */
  readonly queue: Queue;
  readonly examined: ExaminedUploads;
  readonly threads: MaskThreads;
  readonly audit: Audit;
  readonly signer: Signer;
  /** Decides about enrolments instead of tokens and the allow-list. */
  readonly hook: EnrolmentHook | undefined;
  readonly keyLimits: TokenBuckets;
  readonly unsafePaperMode: boolean;
  readonly watch: AuthorityWatch;
  readonly randomBytes: RandomBytes;
  now(): Millis;
  onEvent(event: BasaEvent, task?: TaskId): void;
}
