/** I1: users whose updates are in a sum are told "aborted", and bring the same updates to another buffer. */
import { EMPTY_LEDGER, millis, type Outcome, outcomeCodec, releaseDelta } from '@basa/protocol';
import { CLOSE_MS, type FederationDevice, OPEN_MS } from '@basa/simulator';
import type { Attack, AttackResult, AttackSetting } from './attack.ts';
import { ALL_OF_THREE, SealedScene } from './sealed-scene.ts';
import { closeBuffer } from './server-moves.ts';

export const I1: Attack = {
  id: 'I1',
  schedule:
    'a buffer of U0, U1 and V closes; the server tells U0 and U1 "aborted", and they submit again together with Eve; V is kept out',
  mutant: 'a user that submits again because the server says so',
  broken: (setting) =>
    resubmission(setting, (_, device) => {
      // The rule is removed: no outcome of the authority is requested.
      device.ledger = EMPTY_LEDGER;
    }),
  sealed: (setting) => resubmission(setting, lieAboutOutcome),
};

function resubmission(
  setting: AttackSetting,
  persuade: (scene: SealedScene, device: FederationDevice, stillOpen: Outcome) => void,
): AttackResult {
  const scene = new SealedScene(setting, ALL_OF_THREE);
  const { server, authority } = scene.world;
  const users = ['U0', 'U1'].map((name) => scene.honest(name));
  const kept = scene.honest('V');
  for (const device of [...users, kept]) scene.go(device);
  const stillOpen = authority.outcome(kept.ctx);
  closeBuffer(scene, kept.ctx);
  for (const device of users) persuade(scene, device, stillOpen);
  const eve = scene.colluder('Eve');
  const second = server.drawBuffer();
  scene.lies.seat = () => server.buffer(second);
  for (const device of [...users, eve]) {
    device.leave();
    scene.go(device);
  }
  closeBuffer(scene, second);
  return scene.result();
}

/** Everything the server has: its own signature, and true statements of the authority about other buffers and other times. */
function lieAboutOutcome(scene: SealedScene, device: FederationDevice, stillOpen: Outcome): void {
  const { world } = scene;
  const { ctx } = device;
  const body = { ctx, status: 'aborted' as const, accepted: [] };
  const forged = { ...body, signature: world.server.ports.signer.sign(outcomeCodec.statement(body)) };
  const other = world.server.drawBuffer();
  const before = world.now;
  world.now = millis(before + OPEN_MS + CLOSE_MS);
  const aborted = world.authority.outcome(other);
  world.now = before;
  const ports = { suite: device.suite, council: world.policy };
  for (const outcome of [forged, aborted, { ...aborted, ctx }, stillOpen, world.authority.outcome(ctx)]) {
    const { state, answer } = releaseDelta(ports, device, device.deltaId, [{ authority: 0, outcome }]);
    if (answer.kind === 'refused') scene.note(answer);
    device.ledger = state.ledger;
  }
}
