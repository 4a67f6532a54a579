/** UNSAFE paper mode: the key with which users encrypt, and the key of a position against a ticket of the server. */
import { abeSealing, createMclGroup, decodePublicKey } from '@basa/abe';
import { signingDevice } from '@basa/conformance/signing-device.ts';
import { toHex } from '@basa/masking';
import type { Position } from '@basa/protocol';
import { AUTHORITY_PATH } from '@basa/protocol/http';
import { userIdOf } from '@basa/protocol/internal/wire/devices.ts';
import { PaperTicket, paperAttribute } from '@basa/protocol/paper';
import { ENGINE } from '@basa/protocol/policy';
import { createNodeSigner, nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { AuthorityScene } from '@basa/testkit/world/authority-scene.ts';
import { afterEach, expect, it } from 'vitest';

const group = await createMclGroup();
const tools = { group, suite: nodeSuite, randomBytes: nodeRandomBytes };
const UNSAFE = { unsafePaperMode: true };
const PAPER = { engine: ENGINE.cpAbe, oneShot: undefined };
let scene: AuthorityScene;
afterEach(() => scene.close());

/** Opens a task, of paper mode by default, with a device that has position 1 of a new buffer. */
async function positioned(policy: Partial<typeof PAPER> = PAPER) {
  const { world } = scene;
  await world.createTask(policy, { mode: 'oneShot' in policy ? 'paper' : 'one-shot' });
  const device = await enrolled();
  const body = {
    ctx: nodeRandomBytes(32) as never,
    position: 1 as Position,
    user: userIdOf(nodeSuite, device.deviceKey),
  };
  const signedBy = ({ sign }: { sign(message: Uint8Array): Uint8Array }): Uint8Array =>
    PaperTicket.encode({ ...body, signature: sign(PaperTicket.statement(body)) });
  const attribute = paperAttribute(nodeSuite, body.ctx, body.position);
  const [keys, ofTask] = [AUTHORITY_PATH.unsafePaperKeys(world.task), AUTHORITY_PATH.unsafePaperSealingKey(world.task)];
  const ticket = signedBy(world.serverSigner);
  return { device, user: body.user, ticket, signedBy, attribute, keys, ofTask };
}

async function enrolled() {
  const [device, { task }] = [signingDevice(), scene.world];
  await scene.operate('PUT', AUTHORITY_PATH.allowList(task), { deviceKeys: [toHex(device.deviceKey)] });
  await scene.askAs(device, AUTHORITY_PATH.enrolments(task), {});
  return device;
}

async function sealingAt(path: string) {
  return abeSealing({ ...tools, publicKey: decodePublicKey((await scene.ask(path)).bytes, group) });
}

const open = async (authority = UNSAFE, server = UNSAFE): Promise<void> => {
  scene = await AuthorityScene.open(0, { authority, server });
};

it('the key of a position opens what is sealed to it, is the same after a restart, and is given to enrolled devices with a ticket', async () => {
  await open();
  const { device, user, ticket, signedBy, attribute, keys, ofTask } = await positioned();
  const [sealing, seed, context] = [await sealingAt(ofTask), nodeRandomBytes(32), nodeRandomBytes(70)];
  const sealed = sealing.seal(seed, attribute, context);
  const { bytes: key } = await scene.askAs(device, keys, ticket);
  expect(sealing.open(sealed, key, context)).toEqual(seed);
  const elsewhere = sealing.seal(seed, paperAttribute(nodeSuite, nodeRandomBytes(32) as never, 1 as Position), context);
  expect(sealing.open(elsewhere, key, context)).toBeUndefined();

  const forged = signedBy(createNodeSigner(nodeRandomBytes(32)));
  expect((await scene.askAs(await enrolled(), keys, ticket)).code).toBe('tag-not-yours');
  expect((await scene.askAs(signingDevice(), keys, ticket)).code).toBe('not-enrolled');
  expect((await scene.askAs(device, keys, forged)).code).toBe('ticket-invalid');
  expect((await scene.ask(keys, ticket)).code).toBe('unsigned');
  await scene.world.authorities[0]?.restart();
  expect((await scene.askAs(device, keys, ticket)).bytes).toEqual(key);
  await scene.operate('POST', AUTHORITY_PATH.revocations, { user: toHex(user) });
  expect((await scene.askAs(device, keys, ticket)).code).toBe('revoked');
});

it('the key of a position of one task opens nothing of another', async () => {
  await open();
  const one = await positioned();
  const other = await positioned();
  const { bytes: key } = await scene.askAs(one.device, one.keys, one.ticket);
  const sealing = await sealingAt(other.ofTask);
  const context = new Uint8Array(70);
  expect(sealing.open(sealing.seal(nodeRandomBytes(32), one.attribute, context), key, context)).toBeUndefined();
});

it('a task of the mode, and its routes, are refused without the option; each mode has only its own routes', async () => {
  await open({ unsafePaperMode: false });
  await expect(positioned()).rejects.toThrow('policy-invalid');
  expect((await scene.ask(AUTHORITY_PATH.unsafePaperSealingKey(scene.world.task))).code).toBe('not-found');
  await scene.close();
  await open();
  const { device, ticket, keys, ofTask } = await positioned({});
  expect((await scene.ask(ofTask)).code).toBe('policy-invalid');
  expect((await scene.askAs(device, keys, ticket)).code).toBe('policy-invalid');
  await positioned();
  expect((await scene.ask(AUTHORITY_PATH.epochs(scene.world.task))).code).toBe('policy-invalid');
});

it('a device that asks too often is told to wait, and others are served', async () => {
  scene = await AuthorityScene.open(0, { authority: { ...UNSAFE, keyLimit: { burst: 2, perSecond: 1 } } });
  const path = AUTHORITY_PATH.unsafePaperKeys('0'.repeat(64));
  const [often, other] = [signingDevice(), signingDevice()];
  const statuses = [];
  for (const device of [often, often, often, other])
    statuses.push((await scene.askAs(device, path, new Uint8Array(1))).status);
  expect(statuses).toEqual([404, 404, 429, 404]);
});
