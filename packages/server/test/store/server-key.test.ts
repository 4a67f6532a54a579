/** Nodes of one server have one key; another one comes only as the next key. */
import { expect, it } from 'vitest';
import { nodeKeys } from '../../src/store/server-key.ts';

const [first, second, third] = [1, 2, 3].map((n) => ({ publicKey: new Uint8Array(32).fill(n) })) as [Key, Key, Key];
type Key = { readonly publicKey: Uint8Array };
const kept = (...keys: readonly Key[]): Uint8Array => Uint8Array.from(keys.flatMap(({ publicKey }) => [...publicKey]));

it('the first node says which key it is, and a node with another one does not start', () => {
  expect(nodeKeys(undefined, first, undefined)).toEqual(kept(first));
  expect(nodeKeys(kept(first), first, undefined)).toEqual(kept(first));
  expect(nodeKeys(kept(first), second, undefined)).toBeUndefined();
  expect(nodeKeys(kept(first), second, third)).toBeUndefined();
});

it('a next key may take its place later', () => {
  const both = nodeKeys(kept(first), first, second);
  expect(both).toEqual(kept(first, second));
  expect(nodeKeys(both, first, second)).toEqual(both);
  expect(nodeKeys(both, second, undefined)).toEqual(both);
  expect(nodeKeys(both, third, undefined)).toBeUndefined();
});

it('a server that lost its key starts with the next one for both', () => {
  expect(nodeKeys(kept(first), second, second)).toEqual(kept(first, second));
});
