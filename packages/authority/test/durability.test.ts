/** Durability: a crash at every durable boundary, and a data folder that was rolled back. */
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { toHex } from '@basa/masking';
import { AUTHORITY_PATH, type BasaEvent, certificateCodec } from '@basa/protocol';
import { nodeRandomBytes } from '@basa/runtime/node';
import type { Enrolled } from '@basa/testkit/core/one-shot/shot-upload.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { type Authority, verifyLog } from '../src/index.ts';
import { type Answer, ask, askAs, newDevice, userOf } from './asking.ts';
import { AUDITOR, cleanUp, freshHome, OPERATOR, start, stop, time } from './homes.ts';
import {
  finalBatch,
  loggedModel,
  type ShotScene,
  ShotWorld,
  shotScene,
  shotStage,
  standOf,
} from './one-shot/shot-world.ts';
import { TestServer } from './parties.ts';
import { PowerCuts } from './power-cuts.ts';

const begun = time.now;
afterEach(async () => {
  time.now = begun;
  await cleanUp();
});

describe('a power cut between the transaction and the answer', () => {
  it('loses nothing: the disk as it was then gives the same answer to the same request', async () => {
    const home = freshHome();
    const cuts = new PowerCuts(home);
    const authority = await start(home, { witness: cuts.witness });
    const survive = (step: (at: Authority) => Promise<Answer>): Promise<Answer> => cuts.survive(authority, step);

    const server = new TestServer({ authorities: [authority.publicKey] });
    await survive((at) => server.createTask(at));
    await survive((at) => server.appendModel(at, { version: 0, sums: [] }));
    const tokensPath = AUTHORITY_PATH.tokens(server.task);
    const tokens = await ask(authority, tokensPath, { body: { count: 2, endsAt: time.now + 1000 }, token: OPERATOR });
    const enrolled: Enrolled[] = [];
    for (const token of tokens.json().tokens as string[]) {
      const device = newDevice();
      const path = AUTHORITY_PATH.enrolments(server.task);
      const { bytes } = await survive((at) => askAs(device, at, path, { token }));
      enrolled.push({ device, certificate: certificateCodec.decode(bytes) });
    }
    const world = new ShotWorld(server, enrolled, await loggedModel(server, [authority], { version: 0, sums: [] }));
    const [epochs, uploads] = [await world.epochs([authority]), await world.uploads([authority])];
    await world.inspected(authority, uploads, epochs);
    const request = world.voteRequest(world.batchOf(uploads));
    await survive((at) => world.vote(at, request));
    const { ctx } = await finalBatch(authority, { world, epochs, uploads });
    await survive((at) => server.appendModel(at, { version: 1, sums: [ctx] }));
    const user = toHex(userOf((enrolled[0] as Enrolled).device));
    await survive((at) => ask(at, AUTHORITY_PATH.revocations, { body: { user }, token: OPERATOR }));
    expect(cuts.count).toBe(7);
  });
});

const rollbacksIn = (events: readonly BasaEvent[]) => events.filter(({ kind }) => kind === 'authority-rolled-back');
const show = (authority: Authority, head: string) => ask(authority, '/v1/health', { headers: { 'basa-head': head } });

/** An authority that voted in an open epoch, then went back to the folder from before that. */
async function rolledBack({ withWitness }: { withWitness: boolean }) {
  const home = freshHome();
  const witness = join(home.root, 'witness');
  let authority = await start(home, { witness });
  const scene = await shotScene(authority, 3);
  await stop(authority);
  const snapshot = join(home.root, 'snapshot');
  cpSync(home.dataFolder, snapshot, { recursive: true });
  cpSync(witness, `${witness}.old`);

  authority = await start(home, { witness });
  const some = { ...scene, uploads: scene.uploads.slice(0, 2) };
  await finalBatch(authority, some);
  const { head } = await ask(authority, '/v1/health');
  await stop(authority);
  cpSync(home.dataFolder, join(home.root, 'newer'), { recursive: true });
  rmSync(home.dataFolder, { recursive: true });
  cpSync(snapshot, home.dataFolder, { recursive: true });
  if (withWitness) cpSync(`${witness}.old`, witness);
  const events: BasaEvent[] = [];
  authority = await start(home, { witness, onEvent: (event) => events.push(event) });
  return { authority, scene, head, events, home, witness };
}

/** The same devices with uploads of the epoch that is open now. */
async function nextScene(authority: Authority, { world }: ShotScene): Promise<ShotScene> {
  return { world, epochs: await world.epochs([authority]), uploads: await world.uploads([authority]) };
}

describe('a rolled-back data folder', () => {
  it('is detected with the witness: its epochs are dead, and nothing of them is voted for', async () => {
    const { authority, scene, events } = await rolledBack({ withWitness: false });
    expect(rollbacksIn(events)).toHaveLength(1);
    expect(await standOf(authority, scene)).toBe('dead');
    const { world, uploads } = scene;
    const other = await world.vote(authority, world.voteRequest(world.batchOf(uploads.slice(1), 1)));
    expect(other.code).toBe('not-inspected');
    const next = await nextScene(authority, scene); // new epochs work
    expect((await finalBatch(authority, next, 2)).votes).toHaveLength(1);
  });

  it('with its witness is met by the head that a client saw, whatever it asks', async () => {
    const { authority, scene, events, head } = await rolledBack({ withWitness: true });
    expect(await standOf(authority, scene)).toBe('live');
    expect(events).toEqual([]);
    expect((await show(authority, head)).status).toBe(200);
    expect(rollbacksIn(events)).toHaveLength(1);
    expect(await standOf(authority, scene)).toBe('dead');
    // Met once, it is over: the same head says nothing new.
    const { head: after } = await show(authority, head);
    expect((await show(authority, after)).head).toBe(after);
  });

  it('stays met after a restart', async () => {
    const { authority, scene, home, witness } = await rolledBack({ withWitness: false });
    await stop(authority);
    const events: BasaEvent[] = [];
    const again = await start(home, { witness, onEvent: (event) => events.push(event) });
    expect(events).toEqual([]);
    expect(await standOf(again, scene)).toBe('dead');
  });

  it('is assumed if the witness is missing', async () => {
    const home = freshHome();
    const authority = await start(home);
    const scene = await shotScene(authority, 2);
    await stop(authority);
    rmSync(`${home.dataFolder}.witness`);
    expect(await standOf(await start(home), scene)).toBe('dead');
  });

  it('is not assumed after a normal restart, and an unsigned head proves nothing', async () => {
    const home = freshHome();
    const authority = await start(home);
    const scene = await shotScene(authority, 2);
    const { head } = await ask(authority, '/v1/health');
    await stop(authority);
    const again = await start(home);
    expect((await ask(again, '/v1/health')).head).toBe(head);
    await show(again, head.slice(0, -128) + toHex(nodeRandomBytes(64)));
    expect(await standOf(again, scene)).toBe('live');
  });

  it('of a restore drill is met once: its heads, shown again and by anybody, end no epoch that is opened later', async () => {
    const home = freshHome();
    const events: BasaEvent[] = [];
    const stopped = await start(home);
    await shotStage([stopped], 2);
    await stop(stopped);
    const copy = { ...home, dataFolder: join(home.root, 'drill') };
    cpSync(home.dataFolder, copy.dataFolder, { recursive: true });
    const drill = await start(copy);
    const { head } = await ask(drill, '/v1/health');
    await shotStage([drill], 0);
    const { head: further } = await ask(drill, '/v1/health');
    const authority = await start(home, { onEvent: (event) => void events.push(event) });
    const lost = await shotScene(authority, 2);
    await show(authority, head);
    expect(await standOf(authority, lost)).toBe('dead');
    const scene = await shotScene(authority, 2);
    for (const shown of [head, further, head, further]) await show(authority, shown);
    expect(await standOf(authority, scene)).toBe('live');
    expect(rollbacksIn(events)).toHaveLength(1);
    const { bytes } = await ask(authority, AUTHORITY_PATH.log, { token: AUDITOR });
    expect(verifyLog(bytes, authority.publicKey)).toMatchObject({ problems: [], counts: { 'branch-begun': 1 } });
  });

  it('that is put back after the older one was used is met once, by the witness of that one', async () => {
    const { authority, home, witness } = await rolledBack({ withWitness: false });
    const { head: ofOlder } = await ask(authority, '/v1/health');
    await stop(authority);
    rmSync(home.dataFolder, { recursive: true });
    cpSync(join(home.root, 'newer'), home.dataFolder, { recursive: true });
    const events: BasaEvent[] = [];
    const again = await start(home, { witness, onEvent: (event) => events.push(event) });
    expect(rollbacksIn(events)).toHaveLength(1);
    const scene = await shotScene(again, 2);
    await show(again, ofOlder);
    expect(await standOf(again, scene)).toBe('live');
  });
});
