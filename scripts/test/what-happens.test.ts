/** Every situation in "What happens if" of docs/operations.md is shown by a test or a drill that exists. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readPage } from '@basa/testkit/pages/snippets.ts';
import { ROOT } from '@basa/testkit/root.ts';
import { expect, it } from 'vitest';

/** The name of the test, or the drill, by the situation as the page names it. */
const SHOWN_BY: Readonly<Record<string, string>> = {
  'A server restarts': 'waits for all of them, through restarts, and names each of them once',
  'An authority restarts': 'trains with all authorities and with one down, waits with two down, and continues later',
  'One of four authorities is down':
    'trains with all authorities and with one down, waits with two down, and continues later',
  'An authority is restored from a backup':
    'an authority restored from a backup has no epochs that uploads name, and the doctor names the revocations that it forgot',
  'A service moves or is lost': 'drill restore',
  'A server node is lost':
    'a node that was stopped past its lease in the midst of a vote is refused by the fence, and another ends the batch',
  'Nodes are upgraded':
    'are stopped and started one after the other, as an upgrade does it, while devices contribute: each update counts once',
  'The database is down': 'go on when the database was killed under load and is back: nothing acknowledged is lost',
  'The database fails over': 'loses nothing that was acknowledged, if the primary waits for its standby',
  'A disk is full': 'a full disk refuses requests that write, serves other requests, and loses nothing',
  'A device is slow': 'end with their version once it is too old',
  'An operator is curious':
    'no input or key of a device is stored, logged or sent by anybody, not even with its upload on the device',
  'The clock of a device is wrong': 'has its request served once, and only if its clock is right',
  'A certificate has expired': 'an untrusted certificate is refused immediately, and the message gives advice',
  'Keys or certificates are replaced': 'drill rotation',
  'The provider of sign-ins is down':
    'without an answer of the issuer says so, asks it again only later, and still takes tokens of the configuration',
};

it('the page has exactly these situations', () => {
  const [, section = ''] = readPage('docs/operations.md').split(/^## What happens if$/m);
  const rows = [...(section.split(/^## /m)[0] ?? '').matchAll(/^\| ([A-Z][^|]*) \|/gm)];
  expect(rows.map(([, situation]) => situation)).toEqual(Object.keys(SHOWN_BY));
});

it('each is shown by a test or a drill that exists', () => {
  const folders = ['test', 'lab/test', ...readdirSync(join(ROOT, 'packages')).map((name) => `packages/${name}/test`)];
  const tests = folders.flatMap((folder) => filesBelow(join(ROOT, folder)).map((file) => readFileSync(file, 'utf8')));
  const drills = readFileSync(join(ROOT, 'lab/src/drills/main.ts'), 'utf8');
  const exists = (name: string): boolean => {
    const [, drill] = /^drill (\w+)$/.exec(name) ?? [];
    if (drill !== undefined) return drills.includes(`${drill}: `);
    return tests.some((text) => text.includes(`it('${name}'`));
  };
  expect(Object.values(SHOWN_BY).filter((name) => !exists(name))).toEqual([]);
  expect(exists('a test that nobody wrote')).toBe(false);
  expect(exists('drill nothing')).toBe(false);
});

function filesBelow(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => name.endsWith('.ts') && !name.includes('node_modules'))
    .map((name) => join(folder, name));
}
