/** The deposit: sealed seeds go to the server, and the slot it gives for them is checked to the last hash. */
import { equalBytes } from '@basa/masking';
import type { PreparedSession, UserSession } from '@basa/protocol';
import { ctxOf, depositMessage, depositToSign, receiveSlot } from '@basa/protocol';
import { abandon, abandonOrThrow } from './abandon.ts';
import type { Rejection } from './contribution.ts';
import type { Engine } from './engine.ts';
import { userPorts } from './engine.ts';
import { takeSeat } from './enter.ts';
import { ProblemError } from './errors.ts';
import { isRefused, rejected } from './rejections.ts';

/** Leaves a slotted session, or an abandoned one with its reason. */
export async function deposit(
  engine: Engine,
  session: PreparedSession,
  signal: AbortSignal,
): Promise<Rejection | undefined> {
  const { server, state } = engine;
  const ports = userPorts(engine, session.member.descriptor);
  const send = async () => {
    const signature = await state.signer.sign(depositToSign(session).statement);
    return server.deposit(depositMessage(session, signature), ports.sealing, signal);
  };
  try {
    const answer = await send().catch(async (error: unknown) => {
      // A seat lapsed before the deposit came, perhaps while this device was down.
      if (!(error instanceof ProblemError) || error.code !== 'seat-missing') throw error;
      return (await isSeatedAgain(engine, session, signal)) ? send() : undefined;
    });
    if (answer === undefined) return await abandon(engine, session, 'buffer-not-open');
    const slotted = await state.take(receiveSlot(ports, session, answer));
    return isRefused(slotted) ? rejected(slotted.reason, 'free', slotted) : undefined;
  } catch (error) {
    return await abandonOrThrow(engine, session, error);
  }
}

async function isSeatedAgain(
  { outside, ...engine }: Engine,
  session: UserSession,
  signal: AbortSignal,
): Promise<boolean> {
  const seat = await takeSeat({ outside, ...engine }, signal);
  return seat.kind === 'seat' && equalBytes(ctxOf(outside.suite, seat.descriptor), session.member.ctx);
}
