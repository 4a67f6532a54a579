/** Tasks and devices at an authority: the tasks that it takes, and what it signs about devices. */
import { isRefused } from '@basa/protocol';
import { isEndorsedByOne } from '@basa/protocol/internal/wire/council.ts';
import { certify, Revocations, signRevocations, taskProblem } from '@basa/protocol/internal/wire/devices.ts';
import { Certificate, isSigned } from '@basa/protocol/wire';
import { nodeSuite as suite } from '@basa/runtime/node';
import { ShotWorld } from '@basa/testkit/core/one-shot/shot-world.ts';
import { describe, expect, it } from 'vitest';

const alone = () => new ShotWorld({ count: 1 });

describe('an authority', () => {
  it('answers only for tasks that name it', () => {
    const world = new ShotWorld();
    const { ports } = world.authority(0).base;
    expect(taskProblem(ports, world.policy)).toBeUndefined();
    const stranger = taskProblem({ signer: world.signer() }, world.policy);
    expect(stranger).toMatchObject({ reason: 'policy-invalid', detail: 'the policy does not name this authority' });
  });

  it('certifies a device until it is revoked, always with the same bytes', () => {
    const world = new ShotWorld();
    const { ports } = world.authority(1).base;
    const body = { task: world.task, deviceKey: world.signer().publicKey };
    const certificate = certify(ports, world.policy, body, false);
    if (isRefused(certificate)) throw new Error(certificate.reason);
    expect(isEndorsedByOne(suite, Certificate, world.policy, certificate, 1)).toBe(true);
    expect(certify(ports, world.policy, body, false)).toEqual(certificate);
    expect(certify(ports, world.policy, body, true)).toMatchObject({ reason: 'revoked' });
  });

  it('signs the list of the devices that it has revoked', () => {
    const world = alone();
    const { base } = world.authority(0);
    const users = [world.device().own.user, world.device().own.user];
    const told = signRevocations(base.ports, users);
    expect(told.users).toEqual(users);
    expect(isSigned(suite, Revocations, told, base.publicKey)).toBe(true);
    expect(isSigned(suite, Revocations, { ...told, users: users.slice(1) }, base.publicKey)).toBe(false);
  });
});

describe('a task', () => {
  it('whose sums could wrap is refused with a sentence that names the change to make', () => {
    const world = alone();
    const problem = taskProblem(world.authority(0).base.ports, { ...world.policy, level: 2 ** 31, clip: 100 });
    expect(problem).toMatchObject({ reason: 'policy-invalid', detail: expect.stringContaining('could wrap') });
  });
});
