/** The tools of every route of the authority. */
import type { Millis } from '@basa/protocol';
import type { Service, TokenBuckets } from '@basa/service';
import type { EnrolmentTools } from '../steps/enrolment.ts';
import type { ShotTools } from '../steps/shot-work.ts';
import type { Tasks } from '../steps/tasks.ts';
import type { AuthorityWatch } from '../steps/watch.ts';
import type { AuthorityStore } from '../store/store.ts';

export interface RouteTools {
  readonly service: Service;
  readonly tasks: Tasks;
  readonly store: AuthorityStore;
  readonly enrolment: EnrolmentTools;
  readonly shots: ShotTools;
  readonly keyLimits: TokenBuckets;
  readonly unsafePaperMode: boolean;
  readonly watch: AuthorityWatch;
  now(): Millis;
}
