import { readdirSync, readFileSync } from 'node:fs';
import { epochCodec, isEpochOf, millis, ONE_SHOT_DEFAULTS, type TaskId } from '@basa/protocol';
import { createNodeSigner, nodeSuite } from '@basa/runtime/node';
import { formatVectors, VECTOR_FILES } from '@basa/testkit/vectors/all.ts';
import type { RefusedKey } from '@basa/testkit/vectors/epoch-keys.ts';
import { REFUSALS_FILE, refusalTable } from '@basa/testkit/vectors/refusals.ts';
import { expect, it } from 'vitest';

const folder = new URL('../conformance/vectors/', import.meta.url);

it.each(Object.keys(VECTOR_FILES))('the code makes vectors/%s as it is committed', async (name) => {
  const made = await VECTOR_FILES[name]?.();
  expect(formatVectors(made ?? {})).toBe(readFileSync(new URL(name, folder), 'utf8'));
});

/** Published by others: NIST and the authors of X-Wing. */
const PUBLISHED = ['ml-kem.json'];

it('every committed vector file is made by the code, or published by others', () => {
  expect(
    readdirSync(folder)
      .filter((name) => name.endsWith('.json'))
      .sort(),
  ).toEqual([...Object.keys(VECTOR_FILES), ...PUBLISHED].sort());
});

it('the client in Python carries the table of refusals as it is, and the version of the packages', () => {
  const root = new URL('../', import.meta.url);
  expect(readFileSync(new URL(REFUSALS_FILE, root), 'utf8')).toBe(refusalTable());
  const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as { version: string };
  expect(readFileSync(new URL('clients/python/pyproject.toml', root), 'utf8')).toContain(`\nversion = "${version}"\n`);
});

it('an epoch with a key that must be refused does not count, though its authority signed it', () => {
  const { refusedKeys } = JSON.parse(readFileSync(new URL('protocol.json', folder), 'utf8')) as {
    refusedKeys: readonly RefusedKey[];
  };
  const signer = createNodeSigner(new Uint8Array(32).fill(1));
  const rules = { authorities: [signer.publicKey], oneShot: ONE_SHOT_DEFAULTS };
  const counts = (key: Uint8Array): boolean => {
    const times = { opens: millis(0), closes: millis(ONE_SHOT_DEFAULTS.epochMs) };
    const body = { task: new Uint8Array(32) as TaskId, authority: 0, number: 0, key, kemKey: undefined, ...times };
    return isEpochOf(nodeSuite, rules, { ...body, signature: signer.sign(epochCodec.statement(body)) });
  };
  expect(counts(nodeSuite.x25519(new Uint8Array(32).fill(2)).publicKey)).toBe(true);
  const whole = refusedKeys.map(({ key }) => Buffer.from(key, 'hex')).filter(({ length }) => length === 32);
  expect(whole.length).toBeGreaterThan(5);
  expect(whole.filter(counts)).toEqual([]);
});
