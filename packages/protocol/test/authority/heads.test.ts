/** Heads that somebody shows to the authority: each lost life of its log gives up what is open once, and never again. */
import { ascii } from '@basa/masking';
import { AttributeAuthority, type AuthorityRecord, type Ctx, type Head, millis } from '@basa/protocol';
import { type Federation, granted } from '@basa/simulator';
import { nodeFederation } from '@basa/testkit/core/tools.ts';
import { describe, expect, it } from 'vitest';

const world = (): Federation => nodeFederation({ bufferSize: 2, dimension: 4 });

function met({ authority, randomBytes, now }: Federation, head: Head): boolean {
  const answer = authority.persist(authority.core.meetHead(head, randomBytes(16), now));
  return 'rolledBack' in answer && answer.rolledBack;
}

const statusOf = ({ authority }: Federation, ctx: Ctx): string => authority.outcome(ctx).status;

/** The log as it is now, restored elsewhere without a witness, as in a drill: heads of its branch, one after the other. */
function drill({ authority, policy }: Federation): readonly [Head, Head] {
  const copy = authority.lostLife();
  const first = copy.head();
  copy.apply(copy.createTask({ ...policy, name: ascii('copy') }).records);
  return [first, copy.head()];
}

/** Forgets what came after the snapshot, and starts again with the witness. */
function rollBack({ authority }: Federation, snapshot: readonly AuthorityRecord[]): void {
  authority.log = [...snapshot];
  authority.restart();
}

describe('a head of a branch that the log does not hold', () => {
  it('makes the authority give up open buffers once; this head and later heads of its branch then change nothing', () => {
    const services = world();
    const before = services.server.drawBuffer();
    const [head, further] = drill(services);
    expect(met(services, head)).toBe(true);
    expect(statusOf(services, before)).toBe('unknown');
    const after = services.server.drawBuffer();
    const records = services.authority.log.length;
    for (const again of [head, further, head]) expect(met(services, again)).toBe(false);
    expect(statusOf(services, after)).toBe('open');
    expect(services.authority.log.length).toBe(records);
  });

  it('counts even if it is not ahead of the log', () => {
    const services = world();
    const [head] = drill(services);
    while (services.authority.log.length <= head.sequence + 1) services.server.drawBuffer();
    expect(met(services, head)).toBe(true);
  });

  it('stays retired after a restart', () => {
    const services = world();
    const [head, further] = drill(services);
    met(services, head);
    services.authority.restart();
    const after = services.server.drawBuffer();
    expect(met(services, further)).toBe(false);
    expect(statusOf(services, after)).toBe('open');
  });

  it('is the only retired branch: heads of another lost branch count, and heads of the log itself prove nothing', () => {
    const services = world();
    const [one, other] = [drill(services), drill(services)];
    expect(met(services, one[0])).toBe(true);
    expect(met(services, services.authority.core.head())).toBe(false);
    expect(met(services, other[0])).toBe(true);
    expect(met(services, one[1])).toBe(false);
  });

  it('signed by another key changes nothing', () => {
    const services = world();
    const [head] = drill(services);
    expect(met(services, { ...head, signature: new Uint8Array(64) })).toBe(false);
  });
});

describe('a lost close', () => {
  it('is never "aborted" once a head shows it, although the restored authority aborted the buffer', () => {
    const services = world();
    const { authority, server } = services;
    const ctx = services.fill([services.device(), services.device()]);
    const image = [...authority.log];
    granted(server.freeze(ctx));
    server.finish(ctx);
    expect(statusOf(services, ctx)).toBe('closed');
    const lost = authority.core.head();
    authority.log = image;
    authority.core = AttributeAuthority.restore(authority.ports, authority.records);
    services.now = millis(services.now + 30 * 24 * 3_600_000);
    authority.persist(authority.core.tick(services.now));
    // As long as nothing shows the rollback, the authority counts in f.
    expect(statusOf(services, ctx)).toBe('aborted');
    expect(met(services, lost)).toBe(true);
    expect(statusOf(services, ctx)).toBe('unknown');
    authority.restart();
    expect(statusOf(services, ctx)).toBe('unknown');
  });

  it('does not prevent that a buffer of the new branch is aborted', () => {
    const services = world();
    met(services, drill(services)[0]);
    const later = services.server.drawBuffer();
    services.now = millis(services.now + 30 * 24 * 3_600_000);
    expect(statusOf(services, later)).toBe('aborted');
    services.authority.restart();
    expect(statusOf(services, later)).toBe('aborted');
  });
});

describe('an earlier head of the log itself', () => {
  it('proves nothing, even if the log is much longer now', () => {
    const services = world();
    const open = services.server.drawBuffer();
    const head = services.authority.core.head();
    services.server.drawBuffer();
    expect(met(services, head)).toBe(false);
    expect(statusOf(services, open)).toBe('open');
  });
});

describe('a second roll-back', () => {
  it('is noticed like the first, by the head of the branch that the first began', () => {
    const services = world();
    const open = services.server.drawBuffer();
    const snapshot = [...services.authority.log];
    services.server.drawBuffer();
    rollBack(services, snapshot);
    expect(statusOf(services, open)).toBe('unknown');
    services.server.drawBuffer();
    const firstLife = services.authority.core.head();
    // To before the first branch began: the log knows nothing of it, and the buffer is open again.
    rollBack(services, snapshot);
    expect(statusOf(services, open)).toBe('unknown');
    const later = services.server.drawBuffer();
    expect(met(services, firstLife)).toBe(false);
    expect(statusOf(services, later)).toBe('open');
  });

  it('within the branch that the first began is noticed by a head of that branch', () => {
    const services = world();
    const snapshot = [...services.authority.log];
    services.server.drawBuffer();
    rollBack(services, snapshot);
    const open = services.server.drawBuffer();
    const second = [...services.authority.log];
    services.server.drawBuffer();
    const ahead = services.authority.core.head();
    services.authority.log = second;
    services.authority.core = AttributeAuthority.restore(services.authority.ports, services.authority.records);
    expect(met(services, ahead)).toBe(true);
    expect(statusOf(services, open)).toBe('unknown');
    const after = services.server.drawBuffer();
    expect(met(services, ahead)).toBe(false);
    expect(statusOf(services, after)).toBe('open');
  });

  it('after a drill is noticed: only the branch of the drill is retired', () => {
    const services = world();
    const [head] = drill(services);
    met(services, head);
    const open = services.server.drawBuffer();
    const snapshot = [...services.authority.log];
    services.server.drawBuffer();
    rollBack(services, snapshot);
    expect(statusOf(services, open)).toBe('unknown');
  });
});
