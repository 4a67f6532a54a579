/** The deposit: sealed seeds go to the server, which assigns a slot for them. */
import { equalBytes } from '@basa/masking';
import {
  ctxOf,
  type Deposit,
  type DepositAnswer,
  type Membership,
  type ProblemCode,
  type Refused,
  refused,
} from '@basa/protocol';
import { ProblemError } from '../errors.ts';
import { type DeviceContext, userPorts } from './device-context.ts';
import { takeSeat } from './enter.ts';

/** The deposit may be made later, or never in this buffer: asking for a seat tells which. */
const NO_PLACE: ReadonlySet<string> = new Set<ProblemCode>(['seat-missing', 'too-many-slots']);

export async function sendDeposit(
  context: DeviceContext,
  message: Deposit,
  { ctx, descriptor }: Membership,
  signal: AbortSignal,
): Promise<DepositAnswer | Refused> {
  const { sealing } = userPorts(context, descriptor);
  const send = async (): Promise<DepositAnswer | undefined> => {
    try {
      return await context.server.deposit(message, sealing, signal);
    } catch (error) {
      if (error instanceof ProblemError && NO_PLACE.has(error.code)) return undefined;
      throw error;
    }
  };
  // A seat may lapse before the deposit comes, perhaps while this device was down: the same one is requested once more.
  const answer = (await send()) ?? ((await isSeatedAgain()) ? await send() : undefined);
  return answer ?? refused('buffer-not-open');

  async function isSeatedAgain(): Promise<boolean> {
    const seat = await takeSeat(context, descriptor, signal);
    return seat.kind === 'seat' && equalBytes(ctxOf(context.outside.suite, seat.descriptor), ctx);
  }
}
