/** Heads that somebody shows to the authority: each lost life of its log gives up what is open once, and never again. */
import { ascii } from '@basa/masking';
import { AttributeAuthority, type AuthorityRecord, type Head } from '@basa/protocol';
import { ShotWorld } from '@basa/testkit/core/one-shot/shot-world.ts';
import { describe, expect, it } from 'vitest';

function scene() {
  const world = new ShotWorld({ count: 1 });
  const { base } = world.authority(0);
  const met = (head: Head): boolean => {
    const answer = base.persist(base.core.meetHead(head, world.randomBytes(16), world.now));
    return 'rolledBack' in answer && answer.rolledBack;
  };
  let tasks = 0;
  const grow = (core = base.core): void => {
    const step = core.createTask({ ...world.policy, name: ascii(`task ${tasks++}`) });
    if (core === base.core) base.persist(step);
    else core.apply(step.records);
  };
  const open = (): number => {
    world.authority(0).openEpoch();
    return base.core.liveEpochs.length;
  };
  const epochs = () => base.core.liveEpochs.length;
  /** The log as it is now, restored elsewhere without a witness, as in a drill: heads of its branch, one after the other. */
  const drill = (): readonly [Head, Head] => {
    const copy = base.lostLife();
    const first = copy.head();
    grow(copy);
    return [first, copy.head()];
  };
  /** Forgets what came after the snapshot, and starts again with the witness. */
  const rollBack = (snapshot: readonly AuthorityRecord[]): void => {
    base.log = [...snapshot];
    base.restart();
  };
  return { world, base, met, grow, open, epochs, drill, rollBack };
}

describe('a head of a branch that the log does not hold', () => {
  it('makes the authority give up its epochs once; this head and later heads of its branch then change nothing', () => {
    const { base, met, open, epochs, drill } = scene();
    const [head, further] = drill();
    expect(epochs()).toBe(1);
    expect(met(head)).toBe(true);
    expect(epochs()).toBe(0);
    open();
    const records = base.log.length;
    for (const again of [head, further, head]) expect(met(again)).toBe(false);
    expect([epochs(), base.log.length]).toEqual([1, records]);
  });

  it('counts even if it is not ahead of the log, and stays retired after a restart', () => {
    const { base, met, grow, open, epochs, drill } = scene();
    const [head, further] = drill();
    while (base.log.length <= head.sequence + 1) grow();
    expect(met(head)).toBe(true);
    base.restart();
    open();
    expect(met(further)).toBe(false);
    expect(epochs()).toBe(1);
  });

  it('is the only retired branch: heads of another lost branch count, and heads of the log itself prove nothing', () => {
    const { base, met, grow, drill } = scene();
    const [one, other] = [drill(), drill()];
    const earlier = base.core.head();
    grow();
    expect(met(earlier)).toBe(false);
    expect(met(one[0])).toBe(true);
    expect(met(base.core.head())).toBe(false);
    expect(met(other[0])).toBe(true);
    expect(met(one[1])).toBe(false);
  });

  it('signed by another key changes nothing', () => {
    const { met, drill } = scene();
    const [head] = drill();
    expect(met({ ...head, signature: new Uint8Array(64) })).toBe(false);
  });
});

describe('a second rollback', () => {
  it('is noticed like the first, by the head of the branch that the first began', () => {
    const { base, met, grow, open, epochs, rollBack } = scene();
    const snapshot = [...base.log];
    grow();
    rollBack(snapshot);
    expect(epochs()).toBe(0);
    grow();
    const firstLife = base.core.head();
    // To before the first branch began: the log knows nothing of it, and the epoch is open again.
    rollBack(snapshot);
    expect(epochs()).toBe(0);
    open();
    expect(met(firstLife)).toBe(false);
    expect(epochs()).toBe(1);
  });

  it('within the branch that the first began is noticed by a head of that branch', () => {
    const { base, met, grow, open, epochs, rollBack } = scene();
    const snapshot = [...base.log];
    grow();
    rollBack(snapshot);
    open();
    const second = [...base.log];
    grow();
    const ahead = base.core.head();
    base.log = second;
    base.core = AttributeAuthority.restore(base.ports, base.records);
    expect(met(ahead)).toBe(true);
    expect(epochs()).toBe(0);
    open();
    expect(met(ahead)).toBe(false);
    expect(epochs()).toBe(1);
  });
});
