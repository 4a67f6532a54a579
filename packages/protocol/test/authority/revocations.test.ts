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
import { granted, type OneShotFederation, reasonOf, type ShotAuthority, type ShotDevice } from '@basa/simulator';
import { nodeFederation } from '@basa/testkit/core/tools.ts';
import { describe, expect, it } from 'vitest';

const world = (): OneShotFederation => nodeFederation({ bufferSize: 2, dimension: 4 });

const authorityOf = ({ keepers }: OneShotFederation) => (keepers[0] as ShotAuthority).base;

function asked({ server, task }: OneShotFederation, after: number, of: TaskId = task): RevocationRequest {
  const body = { task: of, after };
  return { ...body, signature: server.ports.signer.sign(revocationRequestCodec.statement(body)) };
}

const told = (services: OneShotFederation, after: number, of?: TaskId): Revocations =>
  granted<Revocations>(
    authorityOf(services).core.revocations(asked(services, after, of)).answer as Revocations | Refused,
  );

const revoke = (services: OneShotFederation, { own }: ShotDevice) =>
  authorityOf(services).persist(authorityOf(services).core.revoke(own.user, services.now));

describe('revocations', () => {
  it('are counted by the head and listed in order after the requested number, signed', () => {
    const services = world();
    const [a, , c] = [services.shooter(), services.shooter(), services.shooter()];
    expect(authorityOf(services).core.head().revocations).toBe(0);
    for (const device of [c, a]) revoke(services, device);
    revoke(services, a); // once more
    expect(authorityOf(services).core.head().revocations).toBe(2);
    const answer = told(services, 0);
    expect(answer).toMatchObject({ task: services.task, after: 0, upTo: 2, users: [c.own.user, a.own.user] });
    expect(answer.branch).toEqual(authorityOf(services).core.head().branch);
    expect(isSigned(authorityOf(services).ports.suite, revocationsCodec, answer, authorityOf(services).publicKey)).toBe(
      true,
    );
    expect(told(services, 1)).toMatchObject({ after: 1, upTo: 2, users: [a.own.user] });
    expect(told(services, 2)).toMatchObject({ after: 2, upTo: 2, users: [] });
    expect(told(services, 9)).toMatchObject({ after: 9, upTo: 9, users: [] });
  });

  it('are listed after a restart, and in a new branch of the log under its name', () => {
    const services = world();
    const device = services.shooter();
    revoke(services, device);
    authorityOf(services).core = AttributeAuthority.restore(authorityOf(services).ports, authorityOf(services).records);
    expect(told(services, 0)).toMatchObject({ upTo: 1, users: [device.own.user] });
    authorityOf(services).persist(authorityOf(services).core.start(undefined, services.randomBytes(16)));
    expect(told(services, 0)).toMatchObject({
      branch: authorityOf(services).core.head().branch,
      upTo: 1,
      users: [device.own.user],
    });
  });

  it('of another task have their numbers and no names', () => {
    const services = world();
    const authority = authorityOf(services);
    const created = granted(authority.persist(authority.core.createTask({ ...services.policy, name: ascii('other') })));
    const [here, both] = [services.shooter(), services.shooter()];
    const { endorsements: _, ...body } = both.own.certificate;
    authority.persist(authority.core.enrol({ ...body, task: created.task }));
    for (const device of [here, both]) revoke(services, device);
    expect(told(services, 0).users).toEqual([here.own.user, both.own.user]);
    expect(told(services, 0, created.task)).toMatchObject({ upTo: 2, users: [both.own.user] });
  });

  it('are sent in answers of limited length', () => {
    const services = world();
    for (let n = 0; n < MAX_REVOCATIONS + 3; n++) revoke(services, services.shooter());
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
    expect(reasonOf(authorityOf(services).core.revocations(request).answer)).toBe('server-unknown');
    const nowhere = asked(services, 0, new Uint8Array(32) as TaskId);
    expect(reasonOf(authorityOf(services).core.revocations(nowhere).answer)).toBe('task-unknown');
  });
});
