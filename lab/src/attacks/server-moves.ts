/** What a malicious server does with a buffer: gives a slot to whom it likes, and closes when it likes. */
import { authorityMessages, type Ctx, closeRequestOf, millis } from '@basa/protocol';
import { type FederationDevice, LEASE_MS } from '@basa/simulator';
import { type ChainLink, chainOf, forgedAnswer, forgedClose, linkOf } from './forgery.ts';
import type { SealedStage } from './sealed-stage.ts';

/** The server tells the device that it has a slot that somebody else was given, after the deposits that are there. */
export function giveSlotAgain(stage: SealedStage, device: FederationDevice, ctx: Ctx, slot: number): void {
  tell(stage, device, ctx, chainOf(stage, ctx).slice(0, slot));
}

/**
 * The server tells the device that it comes after these deposits. Were it believed by user and authority, the buffer would
 * be closed at once with all of them.
 */
export function tell(
  stage: SealedStage,
  device: FederationDevice,
  ctx: Ctx,
  earlier: readonly ChainLink[],
  answerTo: (mine: ChainLink) => Uint8Array = (mine) => forgedAnswer(stage, mine, earlier),
): void {
  const claimed: ChainLink[] = [];
  const { lies } = stage;
  lies.seat = () => stage.world.server.buffer(ctx);
  lies.upload = () => ({ kind: 'accepted' });
  lies.deposit = (bytes) => {
    const mine = linkOf(stage, bytes);
    claimed.push(mine);
    return answerTo(mine);
  };
  const answer = stage.go(device);
  if (answer.kind === 'accepted') {
    const chain = [...earlier, ...claimed];
    forgedClose(stage, ctx, chain, [...chain.keys()]);
  }
  tellTheTruth(stage);
}

export function tellTheTruth({ lies }: SealedStage): void {
  lies.seat = undefined;
  lies.deposit = undefined;
  lies.upload = undefined;
}

/** The leases run out, and the buffer is closed with whoever uploaded: the adversary gets all keys that are released. */
export function closeBuffer({ world }: SealedStage, ctx: Ctx): void {
  const { server, authority } = world;
  world.now = millis(world.now + LEASE_MS + 1);
  server.tick();
  server.freeze(ctx, 'stalled');
  const request = closeRequestOf(server.ports, server.buffer(ctx));
  if ('kind' in request) return; // the server's own no: it does not count
  authority.close(authorityMessages(world.policy.bufferSize).closeRequest.encode(request));
}
