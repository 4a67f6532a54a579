/** Which problems decide what becomes of an update, and which are faults that leave it undecided. */
import type { ProblemCode, RefusalReason, Refused } from '@basa/protocol';
import { REFUSALS } from '@basa/protocol';
import type { Rejection } from './contribution.ts';
import { ProblemError } from './errors.ts';

/** Service problems that say no to the update for now, not to the way the request was made. */
const DECIDING: ReadonlySet<string> = new Set<ProblemCode>([
  'task-paused',
  'task-finished',
  'no-place',
  'quota-exceeded',
  'rate-limited',
  'storage-full',
  'authority-unreachable',
  'database-unreachable',
  'stopping',
]);

/** The protocol's own no: it stays one, however often it is asked. */
export function refusalOf(error: unknown): RefusalReason | undefined {
  if (!(error instanceof ProblemError) || !Object.hasOwn(REFUSALS, error.code)) return undefined;
  return error.code as RefusalReason;
}

/** The rejection of an update that nobody has yet; a fault is thrown on. */
export function rejectionOf(error: unknown): Rejection {
  const isDecided = error instanceof ProblemError && (refusalOf(error) !== undefined || DECIDING.has(error.code));
  if (!isDecided) throw error;
  return rejected(error.code as ProblemCode, 'free', error);
}

export function rejected(
  reason: ProblemCode,
  update: Rejection['update'],
  { detail, retryAfterMs }: { readonly detail?: string | undefined; readonly retryAfterMs?: number | undefined } = {},
): Rejection {
  return {
    kind: 'rejected',
    reason,
    update,
    ...(detail === undefined ? {} : { detail }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

export function isRefused(answer: object): answer is Refused {
  return 'kind' in answer && answer.kind === 'refused';
}
