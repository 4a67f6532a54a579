/** A1 and A2: a colluder takes a position and its key, goes silent, and an honest user gets the same position. */
import { EMPTY_LEDGER, millis } from '@basa/protocol';
import { LEASE_MS } from '../federation.ts';
import type { FederationDevice } from '../federation-device.ts';
import type { Attack } from './attack.ts';
import { chainOf, forgedAnswer, linkOf } from './forgery.ts';
import { PaperStage } from './paper-stage.ts';
import { SealedStage } from './sealed-stage.ts';

export const A1: Attack = {
  id: 'A1',
  schedule: 'U0 and U1 upload; Eve takes k = 2 and SK_2 and goes silent; U2 gets k = 2',
  broken(setting) {
    const stage = new PaperStage(setting);
    stage.contribute('U0');
    stage.contribute('U1');
    stage.takeKeyAndGoSilent('Eve');
    stage.contribute('U2');
    return stage.result();
  },
  sealed(setting) {
    const stage = new SealedStage(setting);
    const [u0, u1, u2, u3] = ['U0', 'U1', 'U2', 'U3'].map((name) => stage.honest(name)) as FourDevices;
    const eve = stage.colluder('Eve');
    stage.go(u0);
    stage.go(u1);
    stage.go(eve, 'key');
    giveSlotAgain(stage, u2, eve, 2);
    stage.go(u3);
    closeBuffer(stage, eve);
    return stage.result();
  },
};

export const A2: Attack = {
  id: 'A2',
  schedule: 'Eve times out at k = 1 with SK_1, and again at k = 2 with SK_2; U0, U1 and U2 upload',
  broken(setting) {
    const stage = new PaperStage(setting);
    stage.contribute('U0');
    stage.takeKeyAndGoSilent('Eve');
    stage.contribute('U1');
    stage.takeKeyAndGoSilent('Eve');
    stage.contribute('U2');
    return stage.result();
  },
  sealed(setting) {
    const stage = new SealedStage(setting);
    const [u0, u1, u2, u3] = ['U0', 'U1', 'U2', 'U3'].map((name) => stage.honest(name)) as FourDevices;
    const eve = stage.colluder('Eve');
    stage.go(u0);
    stage.go(eve, 'key');
    giveSlotAgain(stage, u1, eve, 1);
    // Eve asks for a second slot of the same buffer, with a deposit of its own and the server's blessing.
    const { ctx } = eve;
    eve.leave();
    eve.ledger = EMPTY_LEDGER; // a colluder keeps no rule of its own
    giveSlotAgain(stage, eve, eve, 2, ctx);
    stage.go(u2);
    stage.go(u3);
    closeBuffer(stage, u0);
    return stage.result();
  },
};

export type FourDevices = [FederationDevice, FederationDevice, FederationDevice, FederationDevice];

/** The server tells `device` that it has `slot` of the buffer that `holder` is in, after the deposits that are there. */
export function giveSlotAgain(
  stage: SealedStage,
  device: FederationDevice,
  holder: FederationDevice,
  slot: number,
  ctx = holder.ctx,
): void {
  const { server } = stage.world;
  stage.lies.seat = () => server.buffer(ctx).descriptor;
  stage.lies.deposit = (bytes) => forgedAnswer(stage, linkOf(stage, bytes), chainOf(stage, ctx).slice(0, slot));
  stage.lies.upload = () => ({ kind: 'accepted' });
  stage.go(device);
  stage.lies.seat = undefined;
  stage.lies.deposit = undefined;
  stage.lies.upload = undefined;
}

/** The leases run out, and the buffer is closed with whoever uploaded: the adversary gets all keys that are released. */
export function closeBuffer({ world }: SealedStage, member: FederationDevice): void {
  const { ctx } = member;
  world.now = millis(world.now + LEASE_MS + 1);
  world.server.tick();
  world.server.finish(ctx);
}
