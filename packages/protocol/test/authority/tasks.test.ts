/** Tasks, devices and models at an authority: one policy, one certificate and one model for each name, each written once. */
import { DecodeError } from '@basa/masking';
import {
  AttributeAuthority,
  type CertificateBody,
  DEFAULT_TRAINING,
  decodeAuthorityRecord,
  decodePolicy,
  encodePolicy,
  endorse,
  isRefused,
  joined,
  type ModelAppend,
  type ModelEntry,
  modelAppendCodec,
  modelEntryCodec,
  signStatement,
  type TaskId,
  type TaskPolicy,
  taskIdOf,
} from '@basa/protocol';
import { nodeSuite as suite } from '@basa/runtime/node';
import { granted, reasonOf } from '@basa/simulator';
import { ShotWorld } from '@basa/testkit/core/one-shot/shot-world.ts';
import { describe, expect, it } from 'vitest';
import { voted } from '../one-shot/scene.ts';

const alone = () => new ShotWorld({ count: 1 });
const NOBODY = new Uint8Array(32).fill(9);

type Appended = Pick<ModelAppend, 'version' | 'modelHash'> & Partial<ModelAppend>;

/** The append, signed by the server of the task. */
function append(world: ShotWorld, change: Appended, signer = world.server.signer): ModelAppend {
  return signStatement(modelAppendCodec, signer, { task: world.task, sums: [], spoilt: [], closed: [], ...change });
}

describe('an authority', () => {
  it('answers only for tasks that name it', () => {
    const world = new ShotWorld();
    const { ports } = world.authority(0).base;
    const stranger = new AttributeAuthority({ ...ports, signer: world.signer() });
    const step = stranger.createTask(world.policy);
    expect([reasonOf(step.answer), step.records]).toEqual(['policy-invalid', []]);
    const { endorsements: _, ...body } = world.device().own.certificate;
    expect(reasonOf(stranger.enrol(body).answer)).toBe('task-unknown');
  });

  it('knows no certificate, model or device of an unknown name', () => {
    const world = alone();
    const { core } = world.authority(0).base;
    const task = NOBODY as TaskId;
    const body: CertificateBody = { task, deviceKey: NOBODY };
    expect(reasonOf(core.enrol(body).answer)).toBe('task-unknown');
    const appended = append(world, { task, version: 0, modelHash: NOBODY });
    expect(reasonOf(core.appendModel(appended).answer)).toBe('task-unknown');
    expect(reasonOf(core.revoke(NOBODY as never, world.now).answer)).toBe('not-enrolled');
  });

  it('writes a repeated statement once: a task, a device, a revocation', () => {
    const world = alone();
    const { certificate, user } = world.device().own;
    const { base } = world.authority(0);
    const { core } = base;
    expect(core.createTask(world.policy)).toMatchObject({ records: [], answer: { task: world.task } });
    const { endorsements: _, ...body } = certificate;
    expect(core.enrol(body)).toMatchObject({ records: [], answer: certificate });
    expect(base.persist(core.revoke(user, world.now))).toEqual({ kind: 'revoked' });
    expect(core.revoke(user, world.now)).toMatchObject({ records: [], answer: { kind: 'revoked' } });
    expect(reasonOf(core.enrol(body).answer)).toBe('revoked');
  });

  it('does not read a record without a kind, or of an unknown kind', () => {
    expect(() => decodeAuthorityRecord(new Uint8Array(2))).toThrow(DecodeError);
    expect(() => decodeAuthorityRecord(new Uint8Array(40).fill(255))).toThrow(DecodeError);
  });
});

describe('a task', () => {
  it('whose sums could wrap is refused with a sentence that names the change to make', () => {
    const world = alone();
    const step = world.authority(0).base.core.createTask({ ...world.policy, level: 2 ** 31, clip: 100 });
    expect(step.answer).toMatchObject({ reason: 'policy-invalid', detail: expect.stringContaining('could wrap') });
  });

  it.each<Partial<TaskPolicy>>([
    { blockFloor: 2.8 },
    { training: { ...DEFAULT_TRAINING, learningRate: 0.2 } },
    { training: { ...DEFAULT_TRAINING, epochs: 2 } },
    { training: { ...DEFAULT_TRAINING, batchSize: 11 } },
    { training: { ...DEFAULT_TRAINING, loss: 'own' } },
  ])('with %o is another task, and reads as it was written', (change) => {
    const { policy } = alone();
    const changed = { ...policy, ...change };
    expect(decodePolicy(encodePolicy(changed))).toEqual(changed);
    expect(taskIdOf(suite, changed)).not.toEqual(taskIdOf(suite, policy));
  });
});

describe('the model log', () => {
  it('takes one hash for the next version only, signed by the server', () => {
    const { world, batch, votes } = voted({ count: 1 });
    const { base } = world.authority(0);
    const sums = [world.server.closing(batch).ctx];
    const modelHash = NOBODY;
    const asked = (change: Partial<Appended> = {}, signer = world.server.signer) =>
      base.persist(base.core.appendModel(append(world, { version: 1, modelHash, sums, ...change }, signer)));
    const reason = (answer: object) => (isRefused(answer) ? answer.reason : 'logged');
    granted(world.server.releaseBy(0, batch, { votes }));
    expect(reason(asked({ version: 2 }))).toBe('wrong-version');
    expect(reason(asked({}, world.signer()))).toBe('server-unknown');
    const entry = granted(asked());
    expect(asked()).toEqual(entry);
    expect(reason(asked({ modelHash: new Uint8Array(32) }))).toBe('other-model');
  });

  it('of an authority that was away takes the entry that three others signed, and no other', () => {
    const { world, batch, votes } = voted();
    for (const index of world.indices) granted(world.server.releaseBy(index, batch, { votes }));
    world.away.add(3);
    const entry = world.append({ sums: [world.server.closing(batch).ctx], spoilt: [] });
    const { base } = world.authority(3);
    const newest = () => base.core.newestModel(world.task) as ModelEntry;
    const first = newest();
    expect([first.version, first.previous]).toEqual([0, new Uint8Array(32)]);
    expect(entry.previous).toEqual(modelEntryCodec.statementHash(suite, first));
    const short = { ...entry, endorsements: entry.endorsements.slice(1) };
    expect(reasonOf(base.core.adoptModel(short).answer)).toBe('model-not-logged');
    expect(reasonOf(base.core.adoptModel({ ...entry, version: 2 }).answer)).toBe('model-not-logged');
    expect(base.adoptModel(modelEntryCodec.encode(entry))).toEqual(entry);
    expect(newest()).toEqual(entry);
    // Shown twice, it is written once; an older one changes nothing.
    expect(base.core.adoptModel(entry).records).toEqual([]);
    expect(base.core.adoptModel(first)).toMatchObject({ records: [], answer: entry });
  });

  it('of one of several authorities signs a version once, also after a restart', () => {
    const { world, batch, votes } = voted();
    for (const index of world.indices) granted(world.server.releaseBy(index, batch, { votes }));
    const { base } = world.authority(0);
    const next = { version: 1, modelHash: NOBODY, sums: [world.server.closing(batch).ctx] };
    const asked = (change: object = {}) => base.persist(base.core.appendModel(append(world, { ...next, ...change })));
    const entry = granted(asked());
    expect(base.records.at(-1)?.kind).toBe('model-signed');
    expect(base.core.newestModel(world.task)?.version).toBe(0);
    expect(asked()).toEqual(entry);
    const other = { modelHash: new Uint8Array(32).fill(6) };
    expect(reasonOf(asked(other))).toBe('other-model');
    base.restart();
    expect(reasonOf(asked(other))).toBe('other-model');
    expect(reasonOf(asked({ version: 2 }))).toBe('wrong-version');
  });

  it('of the only authority takes no version that a stolen key signed beyond it', () => {
    const world = alone();
    const { core, ports } = world.authority(0).base;
    const { endorsements: _, ...newest } = core.newestModel(world.task) as ModelEntry;
    const beyond = { ...newest, version: Number.MAX_SAFE_INTEGER };
    const shown = core.adoptModel(endorse(modelEntryCodec, world.policy, ports.signer, beyond));
    expect([reasonOf(shown.answer), shown.records]).toEqual(['model-not-logged', []]);
  });

  it('of several authorities takes no entry whose signatures are fewer than the threshold, repeated or not', () => {
    const world = new ShotWorld();
    const { core } = world.authority(0).base;
    const { endorsements: _, ...newest } = core.newestModel(world.task) as ModelEntry;
    const next = { ...newest, version: 1 };
    const signed = (indices: readonly number[]) =>
      indices.flatMap(
        (n) => endorse(modelEntryCodec, world.policy, world.authority(n).base.ports.signer, next).endorsements,
      );
    expect(reasonOf(core.adoptModel({ ...next, endorsements: signed([0, 1, 1]) }).answer)).toBe('model-not-logged');
    expect(granted(core.adoptModel({ ...next, endorsements: joined(signed([0, 1, 2])) }).answer).version).toBe(1);
  });

  it('begins a branch with one version without sums, which repeats a model in the log', () => {
    const world = alone();
    const { base } = world.authority(0);
    const { modelHash } = base.core.newestModel(world.task) as ModelEntry;
    const logged = (version: number, hash = modelHash): string => {
      const answer = base.persist(base.core.appendModel(append(world, { version, modelHash: hash })));
      return isRefused(answer) ? answer.reason : 'logged';
    };
    let version = 0;
    expect(logged(1)).toBe('buffer-unknown');
    for (const _ of ['a rollback', 'another one']) {
      base.persist(base.core.start(undefined, world.randomBytes(16)));
      expect(logged(version + 1, NOBODY)).toBe('other-model');
      base.restart();
      expect(logged(version + 1)).toBe('logged');
      expect(logged(version + 2)).toBe('buffer-unknown');
      version++;
    }
  });
});
