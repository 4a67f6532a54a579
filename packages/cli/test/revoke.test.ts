/** Devices and tasks by their first digits, at authorities of which the first one lies. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toHex } from '@basa/masking';
import { nodeSuite } from '@basa/runtime/node';
import { basaHere, lastLine } from '@basa/testkit/programs/basa.ts';
import { afterEach, expect, it } from 'vitest';

const bytes = (n: number): Uint8Array => nodeSuite.sha256(Uint8Array.of(n));
const deviceOf = (n: number) => ({
  user: toHex(nodeSuite.sha256(bytes(n))),
  deviceKey: toHex(bytes(n)),
  revoked: false,
});
const [thief, victim] = [deviceOf(1), deviceOf(2)];
const task = toHex(bytes(3));

/** A stand-in for an authority that says what a test wants; `asked`: the method of each request. */
interface Liar {
  readonly url: string;
  readonly asked: string[];
  close(): void;
}
const opened: Liar[] = [];
afterEach(() => {
  for (const one of opened.splice(0)) one.close();
});
async function authority(devices: readonly object[], named = task): Promise<void> {
  const asked: string[] = [];
  const server = createServer(({ method = '', url = '' }, reply) => {
    asked.push(method);
    const listed = url.includes('/devices') ? { devices } : { tasks: [{ task: named, name: 'first', devices: 2 }] };
    reply.end(JSON.stringify(method === 'GET' ? listed : { allowed: 1 }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  opened.push({ url, asked, close: () => server.close() });
}
const honest = () => authority([thief, victim]);

async function type(words: readonly string[]) {
  const at = ['--authority', opened.map(({ url }) => url).join(), '--authority-token', opened.map(() => 'a').join()];
  const ended = await basaHere(['keys', ...words, ...at]);
  return { ...ended, changed: opened.filter(({ asked }) => asked.some((method) => method !== 'GET')) };
}

it.each([
  ['lists the key of the thief with the user of the victim', { ...thief, user: victim.user }],
  ['invents a user with the same digits', { ...thief, user: thief.user.slice(0, 8) + '0'.repeat(56) }],
])('an authority that %s is found out, also if it is the only one', async (_, lie) => {
  await authority([lie, victim]);
  for (const by of [
    ['--device-key', thief.deviceKey.slice(0, 8)],
    ['--user', thief.user.slice(0, 8)],
  ])
    expect(await type(['revoke', ...by])).toMatchObject({ code: 8, changed: [] });
});

it('one of two authorities decides neither whom nor where', async () => {
  await authority([victim], toHex(bytes(4))); // It does not list the thief, and calls another task "first".
  await honest();
  for (const words of [
    ['revoke', '--user', thief.user.slice(0, 8)],
    ['enroll', '--task', 'first', '--device-key', thief.deviceKey],
  ]) {
    const ended = await type(words);
    expect(ended).toMatchObject({ code: 2, changed: [] });
    expect(ended.errors).toContain('2 of 2 must name the same; give all 64 digits');
  }
  expect(await type(['revoke', '--user', thief.user])).toMatchObject({ code: 0, changed: opened });
});

it('three of four find the device, and its whole id is printed', async () => {
  await authority([victim]);
  for (let n = 0; n < 3; n++) await honest();
  const ended = await type(['revoke', '--device-key', thief.deviceKey.slice(0, 8)]);
  expect(ended).toMatchObject({ code: 0, out: `${thief.user} is revoked\n`, changed: opened });
  expect(await type(['enroll', '--task', 'first', '--device-key', thief.deviceKey])).toMatchObject({ code: 0 });
});

it('`device list` shows the devices of all authorities, and how many list or revoked them', async () => {
  await authority([{ ...victim, revoked: true }]); // It hides the thief, and invents a revocation.
  for (let n = 0; n < 2; n++) await honest();
  const at = ['--authority', opened.map(({ url }) => url).join(), '--authority-token', opened.map(() => 'a').join()];
  const { code, out } = await basaHere(['device', 'list', '--json', ...at]);
  expect(code).toBe(0);
  expect(lastLine(out)['devices']).toEqual(
    [
      { ...victim, listedBy: 3, revoked: true, revokedBy: 1 },
      { ...thief, listedBy: 2, revoked: false, revokedBy: 0 },
    ]
      .map((one) => ({ ...one, task, taskName: 'first' }))
      .sort((a, b) => (a.user < b.user ? -1 : 1)),
  );
  const shown = (await basaHere(['device', 'list', ...at])).out;
  expect(shown).toContain('revoked by 1 of 3');
  expect(shown).toContain('enrolled, listed by 2 of 3');
});
