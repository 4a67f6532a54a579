/** Tasks and devices at an authority: one policy and one certificate for each name, each written once. */
import { DecodeError } from '@basa/masking';
import {
  AttributeAuthority,
  type CertificateBody,
  DEFAULT_TRAINING,
  decodeAuthorityRecord,
  decodePolicy,
  encodePolicy,
  type TaskId,
  type TaskPolicy,
  taskIdOf,
} from '@basa/protocol';
import { nodeSuite as suite } from '@basa/runtime/node';
import { reasonOf } from '@basa/simulator';
import { ShotWorld } from '@basa/testkit/core/one-shot/shot-world.ts';
import { describe, expect, it } from 'vitest';

const alone = () => new ShotWorld({ count: 1 });
const NOBODY = new Uint8Array(32).fill(9);

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

  it('knows no certificate or device of an unknown name', () => {
    const world = alone();
    const { core } = world.authority(0).base;
    const task = NOBODY as TaskId;
    const body: CertificateBody = { task, deviceKey: NOBODY };
    expect(reasonOf(core.enrol(body).answer)).toBe('task-unknown');
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
    { clip: 0.5 },
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
