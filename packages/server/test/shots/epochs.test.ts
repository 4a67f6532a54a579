/** The epochs of authorities are requested often enough, kept as long as an upload may name them, and never those of a liar. */
import { granted, millis } from '@basa/protocol';
import type { OneShotPolicy } from '@basa/protocol/policy';
import { EPOCHS_AT_ONCE, Epoch, epochEnd } from '@basa/protocol/wire';
import { ShotWorld } from '@basa/testkit/core/one-shot/shot-world.ts';
import { describe, expect, it } from 'vitest';
import type { OneShotContext } from '../../src/shots/context.ts';
import { Epochs } from '../../src/shots/epochs.ts';
import { volatileStore } from '../support/volatile-store.ts';

const LISTED_MS = 120_000;

/** Four authorities, of which three are needed; their lists may be changed, delayed or missing. */
async function scene() {
  const world = new ShotWorld();
  const { task, policy } = world;
  const { suite } = world.environment.tools;
  const { store } = await volatileStore(task, () => world.now, policy);
  const answers: { change?: (epoch: Epoch) => Epoch; before?: () => Promise<unknown> } = {};
  const away = new Set<number>();
  const asked: number[] = [];
  const troubles: unknown[] = [];
  const listed = async (n: number): Promise<readonly Epoch[]> => {
    asked.push(n);
    await answers.before?.();
    if (away.has(n)) throw new Error('away');
    const { epochs } = granted(world.authority(n).epochs());
    return epochs.map((epoch) => answers.change?.(epoch) ?? epoch);
  };
  // The last one is asked first.
  const members = [...world.indices].reverse().map((n) => ({ authority: n, link: { epochs: () => listed(n) } }));
  const options = {
    ...{ task, policy, store, ports: { suite }, authorities: members, clock: () => world.now },
    onTrouble: (_: string, error: unknown) => troubles.push(error),
  } as unknown as OneShotContext;
  /** The epoch with other fields, signed by its own authority or by another one. */
  const signed = (epoch: Epoch, change: Partial<Epoch>, signer = epoch.authority): Epoch => {
    const body = { ...epoch, ...change };
    return { ...body, signature: world.authority(signer).base.ports.signer.sign(Epoch.statement(body)) };
  };
  const statementOf = (epoch: Epoch): Uint8Array => Epoch.statementHash(suite, epoch);
  const oneShot = policy.oneShot as OneShotPolicy;
  const epochs = new Epochs(options);
  return { world, task, store, oneShot, epochs, options, answers, away, asked, troubles, signed, statementOf };
}

const indices = (epochs: readonly Epoch[]): readonly number[] => epochs.map(({ authority }) => authority);

describe('authorities are asked', () => {
  it('every five seconds', async () => {
    const { world, epochs, asked } = await scene();
    const looks = async (): Promise<number> => {
      await epochs.look();
      return asked.splice(0).length;
    };
    expect(await looks()).toBe(4);
    world.pass(4_999);
    expect(await looks()).toBe(0);
    world.pass(1);
    expect(await looks()).toBe(4);
  });

  it('again for a device if too few lists are recent', async () => {
    const { world, epochs, asked } = await scene();
    expect(indices(await epochs.current())).toEqual([0, 1, 2, 3]);
    expect(asked.splice(0)).toHaveLength(4);
    world.pass(LISTED_MS);
    await epochs.current();
    expect(asked).toEqual([]);
    world.pass(1);
    await epochs.current();
    expect(asked.splice(0)).toHaveLength(4);
  });

  it('for missing lists only after a while, if the others are enough', async () => {
    const { world, epochs, asked, away } = await scene();
    away.add(3);
    await epochs.current();
    asked.length = 0;
    world.pass(249);
    expect(indices(await epochs.current())).toEqual([0, 1, 2]);
    expect(asked).toEqual([]);
    world.pass(1);
    away.clear();
    expect(indices(await epochs.current())).toEqual([0, 1, 2, 3]);
    expect(asked.splice(0)).toHaveLength(4);
    world.pass(250);
    await epochs.current();
    expect(asked).toEqual([]);
  });

  it('once for several devices that come at the same time', async () => {
    const { epochs, asked, answers } = await scene();
    let answer = (): void => undefined;
    const wait = new Promise<void>((resolve) => {
      answer = resolve;
    });
    answers.before = () => wait;
    const both = [epochs.look(), epochs.current()];
    answer();
    await Promise.all(both);
    expect(asked).toHaveLength(4);
  });
});

describe('an epoch', () => {
  it('is handed out until its list is old or it closes', async () => {
    const { world, epochs, away } = await scene();
    await epochs.look();
    away.add(2);
    world.pass(LISTED_MS);
    expect(indices(await epochs.current())).toEqual([0, 1, 2, 3]);
    world.pass(1);
    expect(indices(await epochs.current())).toEqual([0, 1, 3]);
    const closing = await scene();
    await closing.epochs.look();
    const { closes } = (await closing.epochs.current())[0] as Epoch;
    closing.world.pass(closes - closing.world.now - 2);
    await closing.epochs.look();
    for (const n of [0, 1, 2, 3]) closing.away.add(n);
    closing.world.pass(1);
    expect(await closing.epochs.current()).toHaveLength(4);
    closing.world.pass(1);
    expect(await closing.epochs.current()).toEqual([]);
  });

  it('that its authority does not list any more is not handed out', async () => {
    const { world, epochs, answers, options } = await scene();
    const [first] = (await epochs.current()) as [Epoch];
    expect(first.authority).toBe(0);
    (options.authorities[3]?.link as { epochs: unknown }).epochs = async () => [];
    world.pass(5_000);
    await epochs.look();
    expect(indices(await epochs.current())).toEqual([1, 2, 3]);
    expect(answers.change).toBeUndefined();
  });

  it('that another node heard is found, and all are kept for an epoch longer than their secrets', async () => {
    const { world, task, store, oneShot, epochs, options, statementOf } = await scene();
    await epochs.look();
    const other = new Epochs(options);
    const [first, second] = (await epochs.current()) as [Epoch, Epoch];
    expect((await other.named([statementOf(first)])).size).toBe(4);
    const later = { ...second, opens: millis(second.opens + 1) };
    const statement = statementOf(later);
    await store.addEpoch(statement, later, world.now + 10 ** 9);
    expect((await other.named([statementOf(first)])).size).toBe(4); // known, so the store is not asked
    expect((await other.named([statementOf(first), statement])).size).toBe(5);
    world.pass(epochEnd(oneShot, first) + oneShot.epochMs - world.now);
    await epochs.forget();
    expect(await store.epochs(task)).toHaveLength(5);
    world.pass(1);
    await epochs.forget();
    expect(await store.epochs(task)).toHaveLength(1);
  });

  it('of another authority or task, or with another signature, is not kept', async () => {
    const { epochs, answers, troubles, store, task, signed } = await scene();
    answers.change = (epoch) => {
      if (epoch.authority === 0) return signed(epoch, { authority: 1 }, 1);
      if (epoch.authority === 1) return signed(epoch, { task: new Uint8Array(32) as typeof task });
      return epoch.authority === 2 ? signed(epoch, {}, 3) : epoch;
    };
    await epochs.look();
    expect([(await store.epochs(task)).length, troubles.length]).toEqual([1, 3]);
  });
});

it('an authority that opens epochs without end, or before their time, is not heard, and the others are', async () => {
  const { world, task, store, epochs, answers, troubles, signed, options } = await scene();
  const only = (n: number) =>
    new Epochs({ ...options, authorities: options.authorities.filter(({ authority }) => authority === n) });
  let ahead = 300_001;
  answers.change = (epoch) => {
    const opens = millis(world.now + ahead);
    return signed(epoch, { opens, closes: millis(opens + 3_600_000) });
  };
  const look = async (one: Epochs): Promise<void> => {
    world.pass(5_000);
    await one.look();
  };
  const liar = only(0);
  await look(liar);
  expect([await store.epochs(task), troubles.length]).toEqual([[], 1]);
  ahead = 300_000;
  for (let n = 0; n < 2 * EPOCHS_AT_ONCE; n++) await look(liar);
  expect(await store.epochs(task)).toHaveLength(EPOCHS_AT_ONCE);
  expect(troubles).toHaveLength(1 + EPOCHS_AT_ONCE);
  delete answers.change;
  await look(epochs);
  expect(await store.epochs(task)).toHaveLength(EPOCHS_AT_ONCE + 3);
});
