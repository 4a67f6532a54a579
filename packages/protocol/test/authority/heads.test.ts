/** Heads that somebody shows to the authority: each lost life of its log gives up what is open once, and never again. */
import { ascii } from '@basa/masking';
import { AttributeAuthority, type AuthorityRecord, type Ctx, type Head } from '@basa/protocol';
import type { Federation } from '@basa/simulator';
import { nodeFederation } from '@basa/testkit/core/tools.ts';
import { describe, expect, it } from 'vitest';

const world = (): Federation => nodeFederation({ bufferSize: 2, dimension: 4 });

function met({ authority, randomBytes }: Federation, head: Head): boolean {
  const answer = authority.persist(authority.core.meetHead(head, randomBytes(16)));
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
  it('gives up what is open, once: shown again, or a further one of its branch, it changes nothing', () => {
    const house = world();
    const before = house.server.drawBuffer();
    const [head, further] = drill(house);
    expect(met(house, head)).toBe(true);
    expect(statusOf(house, before)).toBe('unknown');
    const after = house.server.drawBuffer();
    const records = house.authority.log.length;
    for (const again of [head, further, head]) expect(met(house, again)).toBe(false);
    expect(statusOf(house, after)).toBe('open');
    expect(house.authority.log.length).toBe(records);
  });

  it('counts as well where it is not ahead of the log', () => {
    const house = world();
    const [head] = drill(house);
    while (house.authority.log.length <= head.sequence + 1) house.server.drawBuffer();
    expect(met(house, head)).toBe(true);
  });

  it('stays retired after a restart', () => {
    const house = world();
    const [head, further] = drill(house);
    met(house, head);
    house.authority.restart();
    const after = house.server.drawBuffer();
    expect(met(house, further)).toBe(false);
    expect(statusOf(house, after)).toBe('open');
  });

  it('is retired alone: a head of another lost branch is met, and one of the log itself is still no proof', () => {
    const house = world();
    const [one, other] = [drill(house), drill(house)];
    expect(met(house, one[0])).toBe(true);
    expect(met(house, house.authority.core.head())).toBe(false);
    expect(met(house, other[0])).toBe(true);
    expect(met(house, one[1])).toBe(false);
  });

  it('of somebody else is nothing', () => {
    const house = world();
    const [head] = drill(house);
    expect(met(house, { ...head, signature: new Uint8Array(64) })).toBe(false);
  });
});

describe('an earlier head of the log itself', () => {
  it('is no proof of anything, however far the log is by now', () => {
    const house = world();
    const open = house.server.drawBuffer();
    const head = house.authority.core.head();
    house.server.drawBuffer();
    expect(met(house, head)).toBe(false);
    expect(statusOf(house, open)).toBe('open');
  });
});

describe('a second roll-back', () => {
  it('is met as the first was, by the head of the branch that the first began', () => {
    const house = world();
    const open = house.server.drawBuffer();
    const snapshot = [...house.authority.log];
    house.server.drawBuffer();
    rollBack(house, snapshot);
    expect(statusOf(house, open)).toBe('unknown');
    house.server.drawBuffer();
    const firstLife = house.authority.core.head();
    // To before the first branch began: the log knows nothing of it, and the buffer is open again.
    rollBack(house, snapshot);
    expect(statusOf(house, open)).toBe('unknown');
    const later = house.server.drawBuffer();
    expect(met(house, firstLife)).toBe(false);
    expect(statusOf(house, later)).toBe('open');
  });

  it('within the branch that the first began is met by a head of that branch', () => {
    const house = world();
    const snapshot = [...house.authority.log];
    house.server.drawBuffer();
    rollBack(house, snapshot);
    const open = house.server.drawBuffer();
    const second = [...house.authority.log];
    house.server.drawBuffer();
    const ahead = house.authority.core.head();
    house.authority.log = second;
    house.authority.core = AttributeAuthority.restore(house.authority.ports, house.authority.records);
    expect(met(house, ahead)).toBe(true);
    expect(statusOf(house, open)).toBe('unknown');
    const after = house.server.drawBuffer();
    expect(met(house, ahead)).toBe(false);
    expect(statusOf(house, after)).toBe('open');
  });

  it('after a drill is met: only the branch of the drill is retired', () => {
    const house = world();
    const [head] = drill(house);
    met(house, head);
    const open = house.server.drawBuffer();
    const snapshot = [...house.authority.log];
    house.server.drawBuffer();
    rollBack(house, snapshot);
    expect(statusOf(house, open)).toBe('unknown');
  });
});
