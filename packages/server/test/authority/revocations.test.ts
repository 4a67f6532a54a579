/** A server follows the revocations of its authority: in pages, over new lives of its log, and for good. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EnrolledFor, Head, Revocations as Told, UserId } from '@basa/protocol';
import { openDatabase, sqliteDatabase } from '@basa/service';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { AuthorityLink } from '../../src/authority/authority-link.ts';
import { Revocations } from '../../src/authority/revocations.ts';
import { EMBEDDED_DATABASE } from '../../src/store/schema.ts';
import type { Store } from '../../src/store/store.ts';
import { createStore } from '../../src/store/store.ts';
import { bytes, task, userOf } from '../support/store-samples.ts';

const PAGE = 2;
/** This many pages are requested at once. */
const MAX_PAGES = 1024;
const KEY = bytes(77);
const of = { task, authorities: [KEY], threshold: 1 };
let folder = '';
let store: Store;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'basa-revocations-'));
  const opened = openDatabase(folder, EMBEDDED_DATABASE);
  store = createStore(sqliteDatabase(opened, Date.now));
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

/** An authority with this list, in this branch; what its head says may be another thing. */
class FakeAuthority {
  readonly publicKey = KEY;
  branch = bytes(1, 16);
  list: readonly UserId[] = [];
  head: Head | undefined;
  readonly asked: number[] = [];

  async look(): Promise<void> {
    this.head = this.headOf(this.list.length);
  }

  headOf(revocations: number): Head {
    return { branch: this.branch, sequence: 1, revocations, hash: bytes(0), signature: bytes(0, 64) };
  }

  async revocations({ task: of }: Pick<EnrolledFor, 'task'>, after: number): Promise<Told> {
    this.asked.push(after);
    const users = this.list.slice(after, after + PAGE);
    return { task: of, branch: this.branch, after, upTo: after + users.length, users, signature: bytes(0, 64) };
  }
}

function server(...fakes: readonly FakeAuthority[]): Revocations {
  const all = fakes as unknown as readonly AuthorityLink[];
  return new Revocations({ store, authorities: { all }, onTrouble: () => {} });
}

const known = (count: number) =>
  Promise.all(Array.from({ length: count }, (_, n) => store.revokedBy(task, userOf(n), of).then((count) => count > 0)));

const statusOf = (revocations: Revocations, ...of: Parameters<Revocations['check']>): Promise<'free' | 'revoked'> =>
  revocations.check(...of).then(
    () => 'free',
    (error) => {
      expect(error).toMatchObject({ document: { type: 'urn:basa:problem:revoked' } });
      return 'revoked';
    },
  );

it('asks page by page up to the number in the head, and then no more', async () => {
  const authority = new FakeAuthority();
  authority.list = [0, 1, 2, 3, 4].map(userOf);
  const revocations = server(authority);
  await revocations.look([of]);
  expect(authority.asked).toEqual([0, 2, 4]);
  expect(await known(6)).toEqual([true, true, true, true, true, false]);
  await revocations.look([of]);
  expect(authority.asked).toHaveLength(3);
  authority.list = [...authority.list, userOf(5)];
  await revocations.look([of]);
  expect(authority.asked).toEqual([0, 2, 4, 5]);
  await expect(revocations.check(of, userOf(5))).rejects.toMatchObject({ document: { status: 403 } });
  await revocations.check(of, userOf(6));
  await revocations.check({ ...of, task: bytes(9) as typeof task }, userOf(5)); // another task
});

it('refuses a device only if the authorities that have not revoked it are too few', async () => {
  const all = [1, 2, 3, 4].map((n) => Object.assign(new FakeAuthority(), { publicKey: bytes(n) }));
  const revocations = server(...all);
  for (const [threshold, needed] of [
    [4, 1],
    [3, 2],
    [2, 3],
  ] as const) {
    const council = { task, authorities: all.map(({ publicKey }) => publicKey), threshold };
    const user = userOf(threshold);
    for (const [n, one] of all.entries()) {
      one.list = [...one.list, user];
      await revocations.look([council]);
      const answer = await statusOf(revocations, council, user);
      expect([threshold, n + 1, answer]).toEqual([threshold, n + 1, n + 1 >= needed ? 'revoked' : 'free']);
    }
  }
});

it('continues after a restart at the same position', async () => {
  const authority = new FakeAuthority();
  authority.list = [0, 1].map(userOf);
  await server(authority).look([of]);
  authority.list = [0, 1, 2].map(userOf);
  await server(authority).look([of]);
  expect(authority.asked).toEqual([0, 2]);
});

it('starts again in another life of the log, and forgets no device', async () => {
  const authority = new FakeAuthority();
  const revocations = server(authority);
  authority.list = [0, 1].map(userOf);
  await revocations.look([of]);
  // Rolled back: the second was forgotten, and two others were revoked since.
  authority.branch = bytes(2, 16);
  authority.list = [0, 2, 3].map(userOf);
  await revocations.look([of]);
  expect(authority.asked).toEqual([0, 0, 2]);
  expect(await known(5)).toEqual([true, true, true, true, false]);
});

it('stops asking if the list is shorter than the head says', async () => {
  const authority = new FakeAuthority();
  authority.list = [0].map(userOf);
  authority.head = authority.headOf(7);
  await server(authority).catchUp(of);
  expect(authority.asked).toEqual([0, 1]);
});

it('does not wait for silent authorities if enough others answer, and waits otherwise', async () => {
  const [first, second, away] = [new FakeAuthority(), new FakeAuthority(), new FakeAuthority()];
  const keys = [bytes(1), bytes(2), bytes(3)];
  const all = [first, second, away].map((one, n) => Object.assign(one, { publicKey: keys[n] }));
  for (const one of all) {
    one.list = [userOf(0)];
    one.head = one.headOf(1);
  }
  const gone = async (): Promise<Told> => Promise.reject(new Error('it is away'));
  away.revocations = gone;
  const council = { task, authorities: keys, threshold: 2 };
  const revocations = server(...all);
  await revocations.catchUp(council);
  expect(await store.revokedBy(task, userOf(0), council)).toBe(2);
  second.revocations = gone;
  for (const one of all) one.head = one.headOf(2);
  await expect(revocations.catchUp(council)).rejects.toThrow('it is away');
});

it('does not wait for an authority with an endless list if enough others answer', async () => {
  const all = [1, 2, 3, 4].map((n) => Object.assign(new FakeAuthority(), { publicKey: bytes(n) }));
  const [endless] = all as [FakeAuthority];
  for (const one of all) one.head = one.headOf(0);
  const pages: number[] = [];
  let answer = (): void => {};
  const isWaitedFor = new Promise<void>((resolve) => {
    answer = resolve;
  });
  endless.head = endless.headOf(Number.MAX_SAFE_INTEGER);
  endless.revocations = async (of, after) => {
    pages.push(after);
    if (pages.length > MAX_PAGES + 2) throw new Error('it is asked for ever');
    await isWaitedFor;
    return { task: of.task, branch: bytes(1, 16), after, upTo: after + 1, users: [], signature: bytes(0, 64) };
  };
  const council = { task, authorities: all.map(({ publicKey }) => publicKey), threshold: 3 };
  const revocations = server(...all);
  await Promise.all([revocations.catchUp(council), revocations.catchUp(council)]);
  // It is asked by one of them at a time, and goes on where it was the next time.
  answer();
  await endlessAsked(revocations, council);
  expect(pages).toHaveLength(MAX_PAGES);
  endless.head = endless.headOf(MAX_PAGES + 2);
  await endlessAsked(revocations, council);
  expect(pages).toEqual(Array.from({ length: MAX_PAGES + 2 }, (_, n) => n));
});

/** Until what was begun in the background has ended. */
async function endlessAsked(revocations: Revocations, council: Parameters<Revocations['catchUp']>[0]): Promise<void> {
  await revocations.catchUp({ ...council, threshold: council.authorities.length });
}
