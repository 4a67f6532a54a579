/** UNSAFE paper mode: the key with which users encrypt, and the key of a position against a ticket of the server. */
import { abeSealing, createMclGroup, decodePublicKey } from '@basa/abe';
import { toHex } from '@basa/masking';
import { AUTHORITY_PATH, ENGINE, paperAttribute, paperTicketCodec, type Slot, type TaskPolicy } from '@basa/protocol';
import { nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { afterEach, describe, expect, it } from 'vitest';
import type { Authority } from '../../src/index.ts';
import { ask, askAs, newDevice, userOf } from '../asking.ts';
import { cleanUp, type NewHome, OPERATOR, start, stop } from '../homes.ts';
import { type ShotWorld, shotStage } from '../one-shot/shot-world.ts';
import { TestServer } from '../parties.ts';

const group = await createMclGroup();
const tools = { group, suite: nodeSuite, randomBytes: nodeRandomBytes };
const UNSAFE = { unsafePaperMode: true };
export const PAPER: Partial<TaskPolicy> = { engine: ENGINE.cpAbe, oneShot: undefined };

/** The server gives position 1 of a new buffer to the first device. */
function positionOf({ server, enrolled }: ShotWorld) {
  const [first] = enrolled as readonly [ShotWorld['enrolled'][number]];
  const body = { ctx: nodeRandomBytes(32) as never, slot: 1 as Slot, user: userOf(first.device) };
  const signedBy = ({ signer }: TestServer): Uint8Array =>
    paperTicketCodec.encode({ ...body, signature: signer.sign(paperTicketCodec.statement(body)) });
  const attribute = paperAttribute(nodeSuite, body.ctx, body.slot);
  return { device: first.device, user: body.user, ticket: signedBy(server), signedBy, attribute };
}

async function sealingAt(authority: Authority, { task }: ShotWorld) {
  const { bytes } = await ask(authority, AUTHORITY_PATH.unsafePaperSealingKey(task));
  return abeSealing({ ...tools, publicKey: decodePublicKey(bytes, group) });
}

export function testPaper(freshHome: NewHome): void {
  afterEach(cleanUp);

  describe('the key of a position', () => {
    it('opens what is sealed to the position, is the same after a restart, and is given to enrolled devices with a ticket', async () => {
      const home = await freshHome();
      const authority = await start(home, UNSAFE);
      const world = await shotStage([authority], 2, PAPER);
      const { device, user, ticket, signedBy, attribute } = positionOf(world);
      const path = AUTHORITY_PATH.unsafePaperKeys(world.task);
      const [sealing, seed, context] = [await sealingAt(authority, world), nodeRandomBytes(32), nodeRandomBytes(70)];
      const sealed = sealing.seal(seed, attribute, context);
      const { bytes: key } = await askAs(device, authority, path, ticket);
      expect(sealing.open(sealed, key, context)).toEqual(seed);
      const elsewhere = sealing.seal(seed, paperAttribute(nodeSuite, nodeRandomBytes(32) as never, 1 as Slot), context);
      expect(sealing.open(elsewhere, key, context)).toBeUndefined();

      const other = (world.enrolled[1] as (typeof world.enrolled)[number]).device;
      const forged = signedBy(new TestServer());
      expect((await askAs(other, authority, path, ticket)).code).toBe('tag-not-yours');
      expect((await askAs(newDevice(), authority, path, ticket)).code).toBe('not-enrolled');
      expect((await askAs(device, authority, path, forged)).code).toBe('ticket-invalid');
      expect((await ask(authority, path, { body: ticket })).code).toBe('unsigned');
      await stop(authority);
      const again = await start(home, UNSAFE);
      expect((await askAs(device, again, path, ticket)).bytes).toEqual(key);
      await ask(again, AUTHORITY_PATH.revocations, { body: { user: toHex(user) }, token: OPERATOR });
      expect((await askAs(device, again, path, ticket)).code).toBe('revoked');
    });

    it('of one task opens nothing of another', async () => {
      const authority = await start(await freshHome(), UNSAFE);
      const [one, other] = [await shotStage([authority], 1, PAPER), await shotStage([authority], 1, PAPER)];
      const { device, ticket, attribute } = positionOf(one);
      const { bytes: key } = await askAs(device, authority, AUTHORITY_PATH.unsafePaperKeys(one.task), ticket);
      const sealing = await sealingAt(authority, other);
      const context = new Uint8Array(70);
      expect(sealing.open(sealing.seal(nodeRandomBytes(32), attribute, context), key, context)).toBeUndefined();
    });
  });

  it('a task of the mode, and its routes, are refused without the option; a one-shot task has no such keys', async () => {
    const plain = await start(await freshHome());
    const task = new TestServer({ ...PAPER, authorities: [plain.publicKey] });
    expect((await task.createTask(plain)).code).toBe('policy-invalid');
    expect((await ask(plain, AUTHORITY_PATH.unsafePaperSealingKey(task.task))).code).toBe('not-found');
    const authority = await start(await freshHome(), UNSAFE);
    const world = await shotStage([authority], 1);
    const { device, ticket } = positionOf(world);
    expect((await ask(authority, AUTHORITY_PATH.unsafePaperSealingKey(world.task))).code).toBe('policy-invalid');
    const asked = await askAs(device, authority, AUTHORITY_PATH.unsafePaperKeys(world.task), ticket);
    expect(asked.code).toBe('policy-invalid');
  });
}
