/** Leaves a buffer before anything of the update was given away, durably and for good. */
import type { RefusalReason, UserSession } from '@basa/protocol';
import { abandonSession } from '@basa/protocol';
import type { Rejection } from './contribution.ts';
import type { DeviceContext } from './device-context.ts';
import { userPorts } from './device-context.ts';
import { ProblemError } from './errors.ts';
import { refusalOf, rejected } from './rejections.ts';

export async function abandon(context: DeviceContext, session: UserSession, reason: RefusalReason): Promise<Rejection> {
  await context.state.take(abandonSession(userPorts(context, session.member.descriptor), context.state, reason));
  return rejected(reason, 'free');
}

/** The protocol's no ends the session; anything else leaves it as it is. */
export async function abandonOrThrow(context: DeviceContext, session: UserSession, error: unknown): Promise<Rejection> {
  const reason = refusalOf(error);
  if (reason === undefined || !(error instanceof ProblemError)) throw error;
  await abandon(context, session, reason);
  return rejected(reason, 'free', error);
}
