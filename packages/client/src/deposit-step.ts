/** The deposit: sealed seeds go to the server, and the slot it gives for them is checked to the last hash. */
import { equalBytes } from '@basa/masking';
import type { DepositAnswer, PreparedSession, ProblemCode, UserSession } from '@basa/protocol';
import { ctxOf, depositMessage, depositToSign, isRefused, receiveSlot } from '@basa/protocol';
import { abandon, abandonOrThrow } from './abandon.ts';
import type { Rejection } from './contribution.ts';
import type { DeviceContext } from './device-context.ts';
import { userPorts } from './device-context.ts';
import { takeSeat } from './enter.ts';
import { ProblemError } from './errors.ts';
import { rejected } from './rejections.ts';

/** The deposit may be made later or never in this buffer: whoever asks for a seat is told which. */
const NO_PLACE: ReadonlySet<string> = new Set<ProblemCode>(['seat-missing', 'too-many-slots']);

/** Leaves a slotted session, or an abandoned one with its reason. */
export async function deposit(
  context: DeviceContext,
  session: PreparedSession,
  signal: AbortSignal,
): Promise<Rejection | undefined> {
  const { server, state } = context;
  const ports = userPorts(context, session.member.descriptor);
  const send = async (): Promise<DepositAnswer | undefined> => {
    const signature = await state.signer.sign(depositToSign(session).statement);
    try {
      return await server.deposit(depositMessage(session, signature), ports.sealing, signal);
    } catch (error) {
      if (error instanceof ProblemError && NO_PLACE.has(error.code)) return undefined;
      throw error;
    }
  };
  try {
    // A seat may lapse before the deposit comes, perhaps while this device was down: the same one is asked for once more.
    const answer = (await send()) ?? ((await isSeatedAgain(context, session, signal)) ? await send() : undefined);
    if (answer === undefined) return await abandon(context, session, 'buffer-not-open');
    const slotted = await state.take(receiveSlot(ports, state, answer));
    return isRefused(slotted) ? rejected(slotted.reason, 'free', slotted) : undefined;
  } catch (error) {
    return await abandonOrThrow(context, session, error);
  }
}

async function isSeatedAgain(context: DeviceContext, session: UserSession, signal: AbortSignal): Promise<boolean> {
  const seat = await takeSeat(context, signal);
  return seat.kind === 'seat' && equalBytes(ctxOf(context.outside.suite, seat.descriptor), session.member.ctx);
}
