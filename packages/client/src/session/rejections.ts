/** Separates the problems that decide the fate of an update from faults that leave it undecided. */
import { isRefusalReason, type RefusalReason } from '@basa/protocol';
import { type ProblemCode, problemOf } from '@basa/protocol/http';
import { ProblemError } from '../errors.ts';
import type { Rejection } from './contribution.ts';

/** A refusal of the protocol. Repeating the request does not change it. */
export function refusalOf(error: unknown): RefusalReason | undefined {
  return error instanceof ProblemError && isRefusalReason(error.code) ? error.code : undefined;
}

/** Returns the rejection of an update that was not sent yet; rethrows a fault. */
export function rejectionOf(error: unknown): Rejection {
  if (!(error instanceof ProblemError) || error.code === 'unknown-problem') throw error;
  if (problemOf(error.code).about !== 'update') throw error;
  return rejected(error.code, 'free', error);
}

export function rejected(
  reason: ProblemCode,
  update: Rejection['update'],
  { detail, retryAfterMs, gathering }: Partial<Pick<ProblemError, 'detail' | 'retryAfterMs' | 'gathering'>> = {},
): Rejection {
  return {
    kind: 'rejected',
    reason,
    update,
    ...(detail === undefined ? {} : { detail }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(gathering === undefined ? {} : { gathering }),
  };
}
