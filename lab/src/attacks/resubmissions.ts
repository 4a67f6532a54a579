/** I1: users whose updates are in a sum are told "aborted", and bring the same updates to another buffer. */
import { EMPTY_LEDGER, millis, type Outcome, outcomeCodec, releaseDelta } from '@basa/protocol';
import { CLOSE_MS, type FederationDevice, OPEN_MS } from '@basa/simulator';
import type { Attack, AttackResult, AttackSetting } from './attack.ts';
import { ALL_OF_THREE, SealedStage } from './sealed-stage.ts';
import { closeBuffer } from './server-moves.ts';

export const I1: Attack = {
  id: 'I1',
  schedule: 'a buffer of U0, U1 and V closes; U0 and U1 are told "aborted" and resubmit beside Eve; V is kept back',
  mutant: "a user that resubmits on the server's word",
  broken: (setting) =>
    resubmission(setting, (_, device) => {
      // The rule is gone: no outcome of the authority is asked for.
      device.ledger = EMPTY_LEDGER;
    }),
  sealed: (setting) => resubmission(setting, lieAboutOutcome),
};

function resubmission(
  setting: AttackSetting,
  persuade: (stage: SealedStage, device: FederationDevice, stillOpen: Outcome) => void,
): AttackResult {
  const stage = new SealedStage(setting, ALL_OF_THREE);
  const { server, authority } = stage.world;
  const users = ['U0', 'U1'].map((name) => stage.honest(name));
  const kept = stage.honest('V');
  for (const device of [...users, kept]) stage.go(device);
  const stillOpen = authority.outcome(kept.ctx);
  closeBuffer(stage, kept.ctx);
  for (const device of users) persuade(stage, device, stillOpen);
  const eve = stage.colluder('Eve');
  const second = server.drawBuffer();
  stage.lies.seat = () => server.buffer(second);
  for (const device of [...users, eve]) {
    device.leave();
    stage.go(device);
  }
  closeBuffer(stage, second);
  return stage.result();
}

/** All the server has: its own signature, and true words of the authority about other buffers and other times. */
function lieAboutOutcome(stage: SealedStage, device: FederationDevice, stillOpen: Outcome): void {
  const { world } = stage;
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
    if (answer.kind === 'refused') stage.note(answer);
    device.ledger = state.ledger;
  }
}
