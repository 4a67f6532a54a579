import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import { Secret } from '../src/index.ts';

const BYTES = [222, 173, 190, 239];

it('a secret never prints its bytes', () => {
  const secret = new Secret(Uint8Array.from(BYTES));
  const shown = [
    String(secret),
    JSON.stringify({ secret }),
    `${secret}`,
    inspect(secret, { showHidden: true, depth: 9 }),
    inspect({ deep: [secret] }, { depth: 9 }),
    JSON.stringify(structuredClone(secret)),
    Object.keys(secret).join(),
  ].join('\n');
  for (const form of ['222', 'dead', '3q2', 'Þ']) expect(shown).not.toContain(form);
});

it('a wiped secret is overwritten with zeros and cannot be revealed', () => {
  const bytes = Uint8Array.from(BYTES);
  const secret = new Secret(bytes);
  expect(secret.reveal()).toEqual(Uint8Array.from(BYTES));
  secret.wipe();
  expect([...bytes]).toEqual([0, 0, 0, 0]);
  expect(() => secret.reveal()).toThrow('wiped');
});
