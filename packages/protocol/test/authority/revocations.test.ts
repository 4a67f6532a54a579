/** What a server is told of revoked devices: who they are, in the order of the log, for its own tasks alone. */
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

const told = (house: Federation, after: number, of?: TaskId): Revocations =>
  granted<Revocations>(house.authority.core.revocations(asked(house, after, of)).answer as Revocations | Refused);

const revoke = ({ authority, now }: Federation, { user }: { readonly user: never }) =>
  authority.persist(authority.core.revoke(user, now));

describe('revocations', () => {
  it('are counted by the head and told in their order, after the number that is asked for, signed', () => {
    const house = world();
    const [a, , c] = [house.device(), house.device(), house.device()];
    expect(house.authority.core.head().revocations).toBe(0);
    for (const device of [c, a]) revoke(house, device as never);
    revoke(house, a as never); // once more
    expect(house.authority.core.head().revocations).toBe(2);
    const answer = told(house, 0);
    expect(answer).toMatchObject({ task: house.task, after: 0, upTo: 2, users: [c.user, a.user] });
    expect(answer.branch).toEqual(house.authority.core.head().branch);
    expect(isSigned(house.authority.ports.suite, revocationsCodec, answer, house.authority.publicKey)).toBe(true);
    expect(told(house, 1)).toMatchObject({ after: 1, upTo: 2, users: [a.user] });
    expect(told(house, 2)).toMatchObject({ after: 2, upTo: 2, users: [] });
    expect(told(house, 9)).toMatchObject({ after: 9, upTo: 9, users: [] });
  });

  it('are told after a restart, and in a new branch of the log under its name', () => {
    const house = world();
    const device = house.device();
    revoke(house, device as never);
    house.authority.core = AttributeAuthority.restore(house.authority.ports, house.authority.records);
    expect(told(house, 0)).toMatchObject({ upTo: 1, users: [device.user] });
    house.authority.persist(house.authority.core.start(undefined, house.randomBytes(16)));
    expect(told(house, 0)).toMatchObject({
      branch: house.authority.core.head().branch,
      upTo: 1,
      users: [device.user],
    });
  });

  it('of another task have their numbers and no names', () => {
    const house = world();
    const { authority } = house;
    const created = granted(authority.persist(authority.core.createTask({ ...house.policy, name: ascii('other') })));
    const [here, both] = [house.device(), house.device()];
    const { endorsements: _, ...body } = both.certificate;
    authority.persist(authority.core.enrol({ ...body, task: created.task }));
    for (const device of [here, both]) revoke(house, device as never);
    expect(told(house, 0).users).toEqual([here.user, both.user]);
    expect(told(house, 0, created.task)).toMatchObject({ upTo: 2, users: [both.user] });
  });

  it('are told a bounded number at once', () => {
    const house = world();
    for (let n = 0; n < MAX_REVOCATIONS + 3; n++) revoke(house, house.device() as never);
    const first = told(house, 0);
    expect([first.upTo, first.users.length]).toEqual([MAX_REVOCATIONS, MAX_REVOCATIONS]);
    expect(revocationsCodec.decode(revocationsCodec.encode(first))).toEqual(first);
    expect(told(house, first.upTo)).toMatchObject({ upTo: MAX_REVOCATIONS + 3 });
  });

  it('are told to the server of the task alone', () => {
    const house = world();
    const stranger = house.signer();
    const body = { task: house.task, after: 0 };
    const request = { ...body, signature: stranger.sign(revocationRequestCodec.statement(body)) };
    expect(reasonOf(house.authority.core.revocations(request).answer)).toBe('server-unknown');
    const nowhere = asked(house, 0, new Uint8Array(32) as TaskId);
    expect(reasonOf(house.authority.core.revocations(nowhere).answer)).toBe('task-unknown');
  });
});
