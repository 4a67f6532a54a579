/** The moves of a malicious server with a buffer: it gives a slot to any user, and closes at any time. */
import { authorityMessages, type Ctx, closeRequestOf, millis } from '@basa/protocol';
import { type FederationDevice, LEASE_MS } from '@basa/simulator';
import { type ChainLink, chainOf, forgedAnswer, forgedClose, linkOf } from './forgery.ts';
import type { SealedScene } from './sealed-scene.ts';

/** The server tells the device that it has a slot that was given to another user, after the existing deposits. */
export function giveSlotAgain(scene: SealedScene, device: FederationDevice, ctx: Ctx, slot: number): void {
  tell(scene, device, ctx, chainOf(scene, ctx).slice(0, slot));
}

/**
 * The server tells the device that it comes after these deposits. If user and authority believed it, the buffer would be closed immediately
 * with all of them.
 */
export function tell(
  scene: SealedScene,
  device: FederationDevice,
  ctx: Ctx,
  earlier: readonly ChainLink[],
  answerTo: (mine: ChainLink) => Uint8Array = (mine) => forgedAnswer(scene, mine, earlier),
): void {
  const claimed: ChainLink[] = [];
  const { lies } = scene;
  lies.seat = () => scene.world.server.buffer(ctx);
  lies.upload = () => ({ kind: 'accepted' });
  lies.deposit = (bytes) => {
    const mine = linkOf(scene, bytes);
    claimed.push(mine);
    return answerTo(mine);
  };
  const answer = scene.go(device);
  if (answer.kind === 'accepted') {
    const chain = [...earlier, ...claimed];
    forgedClose(scene, ctx, chain, [...chain.keys()]);
  }
  tellTheTruth(scene);
}

export function tellTheTruth({ lies }: SealedScene): void {
  lies.seat = undefined;
  lies.deposit = undefined;
  lies.upload = undefined;
}

/** The leases run out, and the buffer is closed with the users that uploaded: the adversary gets all keys that are released. */
export function closeBuffer({ world }: SealedScene, ctx: Ctx): void {
  const { server, authority } = world;
  world.now = millis(world.now + LEASE_MS + 1);
  server.tick();
  server.freeze(ctx, 'stalled');
  const request = closeRequestOf(server.ports, server.buffer(ctx));
  if ('kind' in request) return; // a refusal by the server itself does not count
  authority.close(authorityMessages(world.policy.bufferSize).closeRequest.encode(request));
}
