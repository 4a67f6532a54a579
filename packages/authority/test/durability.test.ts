/** Durability: a crash at every durable boundary, and a data folder that was rolled back. */
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { toHex } from '@basa/masking';
import { AUTHORITY_PATH, type BasaEvent } from '@basa/protocol';
import { nodeRandomBytes } from '@basa/runtime/node';
import { afterEach, describe, expect, it } from 'vitest';
import { type Authority, verifyLog } from '../src/index.ts';
import { type Answer, ask, askAs, newDevice, userOf } from './asking.ts';
import { AUDITOR, cleanUp, freshHome, OPERATOR, start, stop, time } from './homes.ts';
import { seated, stage, TestServer } from './parties.ts';
import { PowerCuts } from './power-cuts.ts';

afterEach(cleanUp);

describe('a power cut between the transaction and the answer', () => {
  it('loses nothing: the disk as it was then gives the same answer to the same request', async () => {
    const home = freshHome();
    const cuts = new PowerCuts(home);
    const authority = await start(home, { witness: cuts.witness });
    const survive = (step: (at: Authority) => Promise<Answer>): Promise<Answer> => cuts.survive(authority, step);

    const server = new TestServer();
    await survive((at) => server.createTask(at));
    await survive((at) => server.appendModel(at, 0, new Uint8Array(32)));
    const tokensPath = AUTHORITY_PATH.tokens(server.task);
    const tokens = await ask(authority, tokensPath, { body: { count: 2, endsAt: time.now + 1000 }, token: OPERATOR });
    const enrolled = [];
    for (const token of tokens.json().tokens as string[]) {
      const device = newDevice();
      const path = AUTHORITY_PATH.enrolments(server.task);
      enrolled.push({ device, certificate: (await survive((at) => askAs(device, at, path, { token }))).bytes });
    }
    const draw = server.drawRequest();
    await survive((at) => ask(at, AUTHORITY_PATH.buffers, { body: draw }));
    const buffer = await seated(authority, { server, enrolled });
    const keys: Answer[] = [];
    for (const slot of [0, 1]) {
      const request = buffer.keyRequest(slot);
      keys.push(await survive((at) => buffer.askKey(at, slot, request)));
    }
    const close = buffer.closeRequest([0, 1], keys);
    await survive((at) => buffer.close(at, close));
    await survive((at) => server.appendModel(at, 1, buffer.ctx));
    const user = toHex(userOf((enrolled[0] as (typeof enrolled)[0]).device));
    await survive((at) => ask(at, AUTHORITY_PATH.revocations, { body: { user }, token: OPERATOR }));
    expect(cuts.count).toBe(10);
  });
});

/** An authority that issued a key in an open buffer, then went back to the folder from before that. */
async function rolledBack({ withWitness }: { withWitness: boolean }) {
  const home = freshHome();
  const witness = join(home.root, 'witness');
  let authority = await start(home, { witness });
  const world = await stage(authority, 2);
  const buffer = await seated(authority, world);
  await stop(authority);
  const snapshot = join(home.root, 'snapshot');
  cpSync(home.dataFolder, snapshot, { recursive: true });
  cpSync(witness, `${witness}.old`);

  authority = await start(home, { witness });
  const key = await buffer.askKey(authority, 0);
  expect(key.status).toBe(200);
  await stop(authority);
  cpSync(home.dataFolder, join(home.root, 'newer'), { recursive: true });
  rmSync(home.dataFolder, { recursive: true });
  cpSync(snapshot, home.dataFolder, { recursive: true });
  if (withWitness) cpSync(`${witness}.old`, witness);
  const events: BasaEvent[] = [];
  authority = await start(home, { witness, onEvent: (event) => events.push(event) });
  return { authority, buffer, world, head: key.head, events, home, witness };
}

describe('a rolled-back data folder', () => {
  it('is detected with the witness: open buffers become unknown, no key is issued, and nothing is released', async () => {
    const { authority, buffer, world, events } = await rolledBack({ withWitness: false });
    expect(events).toContainEqual({ kind: 'authority-rolled-back', givenUp: 1 });
    expect((await buffer.outcome(authority)).status).toBe('unknown');
    expect((await buffer.askKey(authority, 0)).code).toBe('buffer-not-open');
    expect((await buffer.close(authority, buffer.closeRequest([], []))).code).toBe('buffer-over');
    const next = await seated(authority, world); // new buffers work
    expect((await next.askKey(authority, 0)).status).toBe(200);
  });

  it('with its witness is met by the head that a client saw, whatever it asks', async () => {
    const { authority, buffer, events, head } = await rolledBack({ withWitness: true });
    expect((await buffer.outcome(authority)).status).toBe('open');
    expect(events).toEqual([]);
    expect((await ask(authority, '/v1/health', { headers: { 'basa-head': head } })).status).toBe(200);
    expect(events).toContainEqual({ kind: 'authority-rolled-back', givenUp: 1 });
    expect((await buffer.outcome(authority)).status).toBe('unknown');
    expect((await buffer.askKey(authority, 0)).code).toBe('buffer-not-open');
    // Met once, it is over: the same head says nothing new.
    const { head: after } = await ask(authority, '/v1/health', { headers: { 'basa-head': head } });
    expect((await ask(authority, '/v1/health', { headers: { 'basa-head': after } })).head).toBe(after);
  });

  it('does not call a buffer aborted that it aborted before a head showed the loss, and calls later ones aborted', async () => {
    const { authority, buffer, world, head } = await rolledBack({ withWitness: true });
    const month = 30 * 24 * 3_600_000;
    time.now += month;
    expect((await buffer.outcome(authority)).status).toBe('aborted');
    expect((await ask(authority, '/v1/health', { headers: { 'basa-head': head } })).status).toBe(200);
    const later = await seated(authority, world);
    time.now += month;
    const told = await Promise.all([buffer, later].map(async (one) => (await one.outcome(authority)).status));
    expect(told).toEqual(['unknown', 'aborted']);
  });

  it('stays met after a restart', async () => {
    const { authority, buffer, home, witness } = await rolledBack({ withWitness: false });
    await stop(authority);
    const events: BasaEvent[] = [];
    const again = await start(home, { witness, onEvent: (event) => events.push(event) });
    expect(events).toEqual([]);
    expect((await buffer.outcome(again)).status).toBe('unknown');
  });

  it('is assumed if the witness is missing', async () => {
    const home = freshHome();
    const authority = await start(home);
    const buffer = await seated(authority, await stage(authority, 2));
    await stop(authority);
    rmSync(`${home.dataFolder}.witness`);
    const again = await start(home);
    expect((await buffer.outcome(again)).status).toBe('unknown');
  });

  it('is not assumed after a normal restart, and an unsigned head proves nothing', async () => {
    const home = freshHome();
    const authority = await start(home);
    const buffer = await seated(authority, await stage(authority, 2));
    const { head } = await ask(authority, '/v1/health');
    await stop(authority);
    const again = await start(home);
    expect((await ask(again, '/v1/health')).head).toBe(head);
    const forged = head.slice(0, -128) + toHex(nodeRandomBytes(64));
    await ask(again, '/v1/health', { headers: { 'basa-head': forged } });
    expect((await buffer.outcome(again)).status).toBe('open');
  });

  it('of a restore drill is met once: its heads, shown again and by anybody, give up nothing that is drawn later', async () => {
    const home = freshHome();
    const events: BasaEvent[] = [];
    const onEvent = (event: BasaEvent) => void events.push(event);
    const stopped = await start(home);
    const world = await stage(stopped, 2);
    await stop(stopped);
    const copy = { ...home, dataFolder: join(home.root, 'drill') };
    cpSync(home.dataFolder, copy.dataFolder, { recursive: true });
    const drill = await start(copy);
    const { head } = await ask(drill, '/v1/health');
    await seated(drill, world);
    const { head: further } = await ask(drill, '/v1/health');
    const authority = await start(home, { onEvent });
    const lost = await seated(authority, world);
    const show = (shown: string) => ask(authority, '/v1/health', { headers: { 'basa-head': shown } });
    await show(head);
    expect((await lost.outcome(authority)).status).toBe('unknown');
    const buffer = await seated(authority, world);
    for (const shown of [head, further, head, further]) await show(shown);
    expect((await buffer.outcome(authority)).status).toBe('open');
    expect((await buffer.askKey(authority, 0)).status).toBe(200);
    expect(events.filter(({ kind }) => kind === 'authority-rolled-back')).toHaveLength(1);
    const { bytes } = await ask(authority, AUTHORITY_PATH.log, { token: AUDITOR });
    expect(verifyLog(bytes, authority.publicKey)).toMatchObject({ problems: [], counts: { 'branch-begun': 1 } });
  });

  it('that is put back after the older one was used is met once, by the witness of that one', async () => {
    const { authority, world, home, witness } = await rolledBack({ withWitness: false });
    const { head: ofOlder } = await ask(authority, '/v1/health');
    await stop(authority);
    rmSync(home.dataFolder, { recursive: true });
    cpSync(join(home.root, 'newer'), home.dataFolder, { recursive: true });
    const events: BasaEvent[] = [];
    const again = await start(home, { witness, onEvent: (event) => events.push(event) });
    expect(events).toContainEqual({ kind: 'authority-rolled-back', givenUp: 1 });
    const buffer = await seated(again, world);
    await ask(again, '/v1/health', { headers: { 'basa-head': ofOlder } });
    expect((await buffer.outcome(again)).status).toBe('open');
  });
});
