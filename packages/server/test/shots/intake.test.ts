/** The single message of a device: which uploads are taken, how they are shown to authorities, and the status that the device reads. */
import { type Modulus, packVector, toHex } from '@basa/masking';
import type { Ctx, RefusalReason, Refused } from '@basa/protocol';
import { Epoch, ShotHeader, type ShotUpload, shotLayout, uploadNameOf } from '@basa/protocol/wire';
import { ShotWorld } from '@basa/testkit/core/one-shot/shot-world.ts';
import { describe, expect, it } from 'vitest';
import { endShots, epochsOf, guardWords } from '../../src/shots/inspector.ts';
import { type NewShot, ShotIntake } from '../../src/shots/intake.ts';
import { ShotTask } from '../../src/shots/shot-task.ts';
import type { ShotStatus, StoredShot } from '../../src/store/shots.ts';
import { bytes } from '../support/store-samples.ts';
import { volatileStore } from '../support/volatile-store.ts';

async function scene() {
  const world = new ShotWorld();
  const { task, policy } = world;
  const { suite } = world.environment.tools;
  const { store } = await volatileStore(task, () => world.now, policy);
  const [device] = world.contributed(1) as [ReturnType<typeof world.device>];
  const { upload } = world.server.shots[0] as (typeof world.server.shots)[number];
  const known = new Map(
    upload.header.epochs.map(({ statement }) => [toHex(statement), world.server.view.epoch(statement)]),
  );
  const models = {
    repeated: false,
    isRepeated: async () => models.repeated,
    newest: { version: 0 },
    asked: [] as Uint8Array[],
    named: async (name: Uint8Array) => {
      models.asked.push(name);
      const version = world.server.view.versionOf(name);
      return version === undefined ? undefined : { version };
    },
    of: async (ctx: Ctx) => (ctx[0] === 1 ? { version: 7 } : undefined),
  };
  const removed: string[] = [];
  const blobs = { removeBelow: async (...keys: readonly string[]) => void removed.push(...keys) };
  const options = { task, policy, store, blobs, models, ports: { suite }, epochs: { named: async () => known } };
  const signed = (change: object): ShotUpload => {
    const header = { ...upload.header, ...change };
    return { ...upload, header: { ...header, signature: device.own.signer.sign(ShotHeader.statement(header)) } };
  };
  const named = (one: ShotUpload): NewShot => ({
    ...{ name: uploadNameOf(suite, one.header), upload: one },
    version: 0,
    votes: { first: 1, last: 1 },
  });
  return {
    world,
    task,
    store,
    removed,
    upload,
    signed,
    named,
    models,
    options,
    intake: new ShotIntake(options as never),
  };
}

const reasonOf = (answer: object): RefusalReason | undefined =>
  'reason' in answer ? (answer.reason as never) : undefined;

describe('a new upload', () => {
  it('is taken until its epochs stop to be voted for, and is refused if it is not valid', async () => {
    const { world, upload, intake } = await scene();
    const closes = upload.header.epochs.map(({ statement }) => world.server.view.epoch(statement)?.closes as number);
    const { epochMs = 0 } = world.policy.oneShot ?? {};
    const votes = { first: Math.min(...closes) + epochMs, last: Math.max(...closes) + epochMs };
    expect(await intake.judge(upload)).toEqual({ version: 0, votes });
    const other = { ...upload, header: { ...upload.header, joinTag: bytes(3, 16) as never } };
    expect(reasonOf(await intake.judge(other))).toBe('signature-invalid');
  });

  it('on a model that was repeated under a newer version is refused', async () => {
    const { upload, intake, models } = await scene();
    models.repeated = true;
    expect(reasonOf(await intake.judge(upload))).toBe('version-over');
  });

  it('on a model that the server did not sign is refused', async () => {
    const { upload, intake, models, signed } = await scene();
    expect(reasonOf(await intake.judge(signed({ model: bytes(9) })))).toBe('model-unknown');
    await intake.judge(upload);
    expect(models.asked).toEqual([bytes(9), upload.header.model]);
  });

  it.each(['in pieces', 'in one request'])(
    '%s is the only one of its tag, and of its device on this version',
    async (how) => {
      const { intake, upload, named, signed } = await scene();
      const take = (one: ShotUpload) =>
        how === 'in pieces' ? intake.begin(named(one)) : intake.take(named(one), { key: 'a-row', bytes: bytes(1) });
      expect(await take(upload)).toMatchObject({ status: how === 'in pieces' ? 'arriving' : 'waiting' });
      expect(reasonOf((await take(signed({ partsHash: bytes(1) }))) as object)).toBe('upload-differs');
      expect(reasonOf((await take(signed({ joinTag: bytes(1, 16) }))) as object)).toBe('version-given');
    },
  );

  it('has the name that its header gives it', async () => {
    const { intake, upload, named } = await scene();
    const { name } = named(upload);
    expect(await intake.known(name, upload)).toBeUndefined();
    await intake.begin(named(upload));
    expect(await intake.known(name, upload)).toMatchObject({ status: 'arriving' });
    await expect(intake.known(bytes(1) as Ctx, upload)).rejects.toThrow();
    await expect(intake.known(name, { ...upload, bodyCrc: 1 })).rejects.toThrow('A different upload');
  });
});

describe('an upload is shown', () => {
  it('with the epochs that it names', async () => {
    const { options, upload } = await scene();
    const shown = await epochsOf(options as never, [{ upload } as StoredShot]);
    expect(shown.map(Epoch.encode)).toHaveLength(upload.header.epochs.length);
  });

  it.each([
    [{ kind: 'ring', bits: 32 }, 1],
    [{ kind: 'ring', bits: 32 }, 4],
    [{ kind: 'ring', bits: 32 }, 50],
    [{ kind: 'ring', bits: 20 }, 50],
    [{ kind: 'field', prime: 65_521 }, 1],
    [{ kind: 'field', prime: 65_521 }, 50],
  ] as [Modulus, number][])('with its guard words, modulo %o and in %i dimensions', async (modulus, dimension) => {
    const { options, upload, named } = await scene();
    const policy = { ...options.policy, modulus, dimension };
    const { elements } = shotLayout(policy, upload.header.epochs);
    const packed = packVector(
      Uint32Array.from({ length: elements }, (_, n) => n + 1),
      modulus,
    );
    const blobs = {
      read: async function* (_: string, from: number, to: number) {
        yield Buffer.concat([packed, bytes(255, 64)]).subarray(from, to); // sealed parts follow the vector
      },
    };
    const words = await guardWords({ ...options, policy, blobs } as never, named(upload) as StoredShot);
    expect([...words]).toEqual([1, 2, 3, 4, elements - 3, elements - 2, elements - 1, elements]);
  });

  it('never, if the stored vector is damaged', async () => {
    const { options, upload, named } = await scene();
    const policy = { ...options.policy, modulus: { kind: 'field', prime: 65_521 } };
    const blobs = {
      read: async function* (_: string, from: number, to: number) {
        yield new Uint8Array(to - from).fill(255);
      },
    };
    const words = guardWords({ ...options, policy, blobs } as never, named(upload) as StoredShot);
    await expect(words).rejects.toThrow('a stored vector is damaged');
  });
});

describe('the status of an upload', () => {
  async function withTask() {
    const all = await scene();
    const { options, store, task, upload, named } = all;
    const events: object[] = [];
    const batches = { status: 'unknown', find: async () => ({ status: batches.status }) };
    const parts = {
      ...options,
      batches,
      onEvent: (event: object) => events.push(event),
    };
    const shots = new ShotTask(parts as never);
    const shot = named(upload);
    const decide = (from: ShotStatus, to: ShotStatus, reason?: RefusalReason) =>
      store.decideShots(task, [shot.name], { from, to, ...(reason && { reason }) });
    return { ...all, batches, events, shots, shot, decide };
  }

  it('is known from its first byte on, and says why it is in no batch', async () => {
    const { shots, shot, decide, intake } = await withTask();
    const fate = () => shots.fateOf(shot.name);
    expect(await fate()).toBeUndefined();
    await intake.begin(shot);
    expect(await fate()).toEqual({ fate: 'waiting' });
    await decide('arriving', 'over', 'version-over');
    expect(await fate()).toEqual({ fate: 'version-over' });
    await decide('over', 'refused', 'body-mismatch');
    expect(await fate()).toEqual({ fate: 'refused', reason: 'body-mismatch' });
  });

  it('in a batch is that of the batch, and it is included once the version exists', async () => {
    const { store, shots, shot, batches } = await withTask();
    const fateIn = async (status: string, batch: number) => {
      batches.status = status;
      const held = { ...store, shot: async () => ({ status: 'batched', ctx: bytes(batch) as Ctx }) as StoredShot };
      return new ShotTask({ store: held, batches, models: (await scene()).models } as never).fateOf(shot.name);
    };
    const ctx = bytes(1);
    for (const status of ['quarantined', 'unknown']) expect(await fateIn(status, 1)).toEqual({ fate: status, ctx });
    for (const status of ['frozen', 'opened']) expect(await fateIn(status, 1)).toEqual({ fate: 'waiting' });
    expect(await fateIn('included', 1)).toEqual({ fate: 'included', ctx, version: 7 });
    expect(await fateIn('included', 2)).toEqual({ fate: 'waiting' });
    expect(await shots.fateOf(shot.name)).toBeUndefined();
  });

  it('is told to others when a whole upload is taken, and not for one that is refused', async () => {
    const { shots, shot, events, decide, signed, named } = await withTask();
    const body = { key: 'a-row', bytes: bytes(1) };
    await shots.take(shot, body);
    expect(events).toEqual([{ kind: 'upload-accepted', ctx: shot.name }]);
    await shots.take(named(signed({ joinTag: bytes(1, 16) })), body);
    await decide('waiting', 'refused', 'body-mismatch');
    await shots.take(shot, body);
    expect(events).toHaveLength(1);
  });

  it('that was ended while its body came is not told to others: its body is removed, and its device gets the reason', async () => {
    const { intake, shots, shot, events, decide, removed, signed, named } = await withTask();
    const begun = (await intake.begin(shot)) as StoredShot;
    await decide('arriving', 'over', 'version-over');
    expect(reasonOf((await shots.accept(begun)) as Refused)).toBe('version-over');
    const forgotten = { ...begun, name: named(signed({ joinTag: bytes(1, 16) })).name };
    expect(reasonOf((await shots.accept(forgotten)) as Refused)).toBe('version-over');
    expect(removed).toEqual([begun, forgotten].map(({ name }) => `uploads/${toHex(name)}`));
    expect(events).toEqual([]);
  });

  it('that is accepted while it is ended keeps its body', async () => {
    const { intake, shots, shot, events, options, task, removed } = await withTask();
    const begun = (await intake.begin(shot)) as StoredShot;
    expect(await shots.accept(begun)).toBeUndefined();
    expect(events).toHaveLength(1);
    await endShots(options as never, [begun], { to: 'over', reason: 'version-over' }, undefined);
    expect([await options.store.shot(task, shot.name), removed]).toMatchObject([{ status: 'waiting' }, []]);
  });
});
