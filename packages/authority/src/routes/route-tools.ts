/** What every route of the authority works with. */
import type { Millis } from '@basa/protocol';
import type { Service, TokenBuckets } from '@basa/service';
import type { BufferEpochTools } from '../buffer-epochs.ts';
import type { DurableAuthority } from '../durable-authority.ts';
import type { EnrolmentTools } from '../enrolment.ts';
import type { KeyEpochs } from '../key-epochs.ts';
import type { AuthorityStore } from '../store.ts';
import type { AuthorityWatch } from '../watch.ts';

export interface RouteTools {
  readonly service: Service;
  readonly authority: DurableAuthority;
  readonly store: AuthorityStore;
  readonly epochs: KeyEpochs;
  readonly enrolment: EnrolmentTools;
  readonly bufferEpochs: BufferEpochTools;
  readonly keyLimits: TokenBuckets;
  readonly watch: AuthorityWatch;
  /** Of this node; steps go by the clock of the database. */
  now(): Millis;
}
