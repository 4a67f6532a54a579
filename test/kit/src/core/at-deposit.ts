/** A user that has deposited, and waits for its slot. */
import type { DepositAnswer } from '@basa/protocol';
import type { Federation, FederationDevice } from '@basa/simulator';
import { nodeFederation } from './tools.ts';

/** A device that has sent its deposit to slot 2 of 4, and the honest answer. */
export function atDeposit(): { world: Federation; device: FederationDevice; answer: DepositAnswer } {
  const world = nodeFederation({ bufferSize: 4, dimension: 6 });
  const [first, second, device] = [world.device(), world.device(), world.device()];
  first.contribute('deposit');
  second.contribute('deposit');
  device.contribute('seat');
  world.loseReplies.clear();
  const deposit = world.server.deposit;
  let answer: DepositAnswer | undefined;
  world.server.deposit = (bytes) => {
    const honest = deposit.call(world.server, bytes);
    if (honest instanceof Uint8Array) answer = world.server.messages.depositAnswer.decode(honest);
    throw new Error('withheld');
  };
  try {
    device.contribute('deposit');
  } catch {
    // The answer is withheld from it.
  }
  world.server.deposit = deposit;
  if (answer === undefined) throw new Error('no answer');
  return { world, device, answer };
}
