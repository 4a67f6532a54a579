/** Reports of revoked devices to a server: in the order of the log, and only for its own tasks. */
import { ascii } from '@basa/masking';
import {
  AttributeAuthority,
  isSigned,
  MAX_REVOCATIONS,
  type Refused,
  type RevocationRequest,
  type Revocations,
  revocationRequestCodec,
  revocationsCodec,
  type TaskId,
} from '@basa/protocol';
import { type Federation, granted, reasonOf } from '@basa/simulator';
import { nodeFederation } from '@basa/testkit/core/tools.ts';
import { describe, expect, it } from 'vitest';

const world = (): Federation => nodeFederation({ bufferSize: 2, dimension: 4 });

function asked({ server, task }: Federation, after: number, of: TaskId = task): RevocationRequest {
  const body = { task: of, after };
  return { ...body, signature: server.ports.signer.sign(revocationRequestCodec.statement(body)) };
}

const told = (services: Federation, after: number, of?: TaskId): Revocations =>
  granted<Revocations>(services.authority.core.revocations(asked(services, after, of)).answer as Revocations | Refused);

const revoke = ({ authority, now }: Federation, { user }: { readonly user: never }) =>
  authority.persist(authority.core.revoke(user, now));

describe('revocations', () => {
  it('are counted by the head and listed in order after the requested number, signed', () => {
    const services = world();
    const [a, , c] = [services.device(), services.device(), services.device()];
    expect(services.authority.core.head().revocations).toBe(0);
    for (const device of [c, a]) revoke(services, device as never);
    revoke(services, a as never); // once more
    expect(services.authority.core.head().revocations).toBe(2);
    const answer = told(services, 0);
    expect(answer).toMatchObject({ task: services.task, after: 0, upTo: 2, users: [c.user, a.user] });
    expect(answer.branch).toEqual(services.authority.core.head().branch);
    expect(isSigned(services.authority.ports.suite, revocationsCodec, answer, services.authority.publicKey)).toBe(true);
    expect(told(services, 1)).toMatchObject({ after: 1, upTo: 2, users: [a.user] });
    expect(told(services, 2)).toMatchObject({ after: 2, upTo: 2, users: [] });
    expect(told(services, 9)).toMatchObject({ after: 9, upTo: 9, users: [] });
  });

  it('are listed after a restart, and in a new branch of the log under its name', () => {
    const services = world();
    const device = services.device();
    revoke(services, device as never);
    services.authority.core = AttributeAuthority.restore(services.authority.ports, services.authority.records);
    expect(told(services, 0)).toMatchObject({ upTo: 1, users: [device.user] });
    services.authority.persist(services.authority.core.start(undefined, services.randomBytes(16), services.now));
    expect(told(services, 0)).toMatchObject({
      branch: services.authority.core.head().branch,
      upTo: 1,
      users: [device.user],
    });
  });

  it('of another task have their numbers and no names', () => {
    const services = world();
    const { authority } = services;
    const created = granted(authority.persist(authority.core.createTask({ ...services.policy, name: ascii('other') })));
    const [here, both] = [services.device(), services.device()];
    const { endorsements: _, ...body } = both.certificate;
    authority.persist(authority.core.enrol({ ...body, task: created.task }));
    for (const device of [here, both]) revoke(services, device as never);
    expect(told(services, 0).users).toEqual([here.user, both.user]);
    expect(told(services, 0, created.task)).toMatchObject({ upTo: 2, users: [both.user] });
  });

  it('are sent in answers of limited length', () => {
    const services = world();
    for (let n = 0; n < MAX_REVOCATIONS + 3; n++) revoke(services, services.device() as never);
    const first = told(services, 0);
    expect([first.upTo, first.users.length]).toEqual([MAX_REVOCATIONS, MAX_REVOCATIONS]);
    expect(revocationsCodec.decode(revocationsCodec.encode(first))).toEqual(first);
    expect(told(services, first.upTo)).toMatchObject({ upTo: MAX_REVOCATIONS + 3 });
  });

  it('are told only to the server of the task', () => {
    const services = world();
    const stranger = services.signer();
    const body = { task: services.task, after: 0 };
    const request = { ...body, signature: stranger.sign(revocationRequestCodec.statement(body)) };
    expect(reasonOf(services.authority.core.revocations(request).answer)).toBe('server-unknown');
    const nowhere = asked(services, 0, new Uint8Array(32) as TaskId);
    expect(reasonOf(services.authority.core.revocations(nowhere).answer)).toBe('task-unknown');
  });
});
