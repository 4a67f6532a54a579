/** R1: a buffer that was closed is open again in an old log of the authority, and the server closes it with another set. */
import { AttributeAuthority, type Head } from '@basa/protocol';
import type { FederationAuthority } from '@basa/simulator';
import type { Attack, AttackResult, AttackSetting } from './attack.ts';
import { chainOf, forgedClose } from './forgery.ts';
import { SealedScene } from './sealed-scene.ts';
import { closeBuffer } from './server-moves.ts';

export const R1: Attack = {
  id: 'R1',
  schedule:
    'a buffer of U0, U1, U2 and V closes; the authority is rolled back to a state before the close; the server replays the head of an older rollback, and closes the buffer again without V',
  mutant: 'an authority that treats every head as already known',
  broken: (setting) => closedTwice(setting, () => {}),
  sealed: (setting) => closedTwice(setting, meet),
};

function closedTwice(setting: AttackSetting, show: (authority: FederationAuthority, head: Head) => void): AttackResult {
  const scene = new SealedScene(setting);
  const { authority } = scene.world;
  const old = authority.lostLife().head();
  meet(authority, old);
  const devices = ['U0', 'U1', 'U2', 'V'].map((name) => scene.honest(name));
  for (const device of devices) scene.go(device);
  const { ctx } = devices[0] as (typeof devices)[number];
  const snapshot = [...authority.log];
  closeBuffer(scene, ctx);
  const seen = authority.core.head();
  authority.log = snapshot;
  authority.core = AttributeAuthority.restore(authority.ports, authority.records);
  // The server shows heads that were met before, hoping that they use up the answer; then a user comes with the newest
  // head.
  for (const head of [old, seen]) show(authority, head);
  forgedClose(scene, ctx, chainOf(scene, ctx), [0, 1, 2]);
  return scene.result();
}

function meet(authority: FederationAuthority, head: Head): void {
  authority.persist(authority.core.meetHead(head, authority.world.randomBytes(16), authority.world.now));
}
