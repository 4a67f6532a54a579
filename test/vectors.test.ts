import { readdirSync, readFileSync } from 'node:fs';
import { millis, type TaskId } from '@basa/protocol';
import { WIRE_VERSION } from '@basa/protocol/internal/wire/codec.ts';
import { ONE_SHOT_DEFAULTS } from '@basa/protocol/policy';
import { Epoch, isEpochOf } from '@basa/protocol/wire';
import { createNodeSigner, nodeSuite } from '@basa/runtime/node';
import { formatVectors, VECTOR_FILES } from '@basa/testkit/vectors/all.ts';
import type { RefusedKey } from '@basa/testkit/vectors/protocol.ts';
import { REFUSALS_FILE, refusalTable } from '@basa/testkit/vectors/refusals.ts';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';

const folder = new URL('../conformance/vectors/', import.meta.url);
const read = (name: string) => JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as Record<string, unknown>;

it.each(Object.keys(VECTOR_FILES))('the code makes vectors/%s as it is committed', async (name) => {
  const made = await VECTOR_FILES[name]?.();
  expect(formatVectors(made ?? {})).toBe(readFileSync(new URL(name, folder), 'utf8'));
});

/** Published by others: NIST and the authors of X-Wing. */
const PUBLISHED = ['ml-kem.json'];

it('every committed vector file is made by the code, or published by others', () => {
  expect(
    readdirSync(folder)
      .filter((name) => name.endsWith('.json') && name !== 'schema.json')
      .sort(),
  ).toEqual([...Object.keys(VECTOR_FILES), ...PUBLISHED].sort());
});

describe('the schema', () => {
  const schema = read('schema.json') as { readonly $defs: object };
  const ajv = new Ajv2020({ schemas: [{ ...schema, $id: 'vectors' }] });
  const describes = (name: string) => ajv.getSchema(`vectors#/$defs/${name}`) as ValidateFunction;
  const names = [...Object.keys(VECTOR_FILES), ...PUBLISHED].map((file) => file.replace('.json', ''));

  it.each(names)('describes %s, every field of it', (name) => {
    const vectors = read(`${name}.json`);
    const describe = describes(name);
    expect(describe(vectors) || describe.errors).toBe(true);
    expect(describe({ ...vectors, other: 1 })).toBe(false);
    for (const [field, list] of Object.entries(vectors)) {
      if (!Array.isArray(list)) continue;
      expect(describe({ ...vectors, [field]: [...list, { other: 1 }] }), field).toBe(false);
    }
  });

  it('belongs to one version of the layouts', () => {
    expect(describes('masking')({ ...read('masking.json'), wire: WIRE_VERSION + 1 })).toBe(false);
  });
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
    const body = { task: new Uint8Array(32) as TaskId, authority: 0, key, kemKey: undefined, ...times };
    return isEpochOf(nodeSuite, rules, { ...body, signature: signer.sign(Epoch.statement(body)) });
  };
  expect(counts(nodeSuite.x25519(new Uint8Array(32).fill(2)).publicKey)).toBe(true);
  const whole = refusedKeys.map(({ key }) => Buffer.from(key, 'hex')).filter(({ length }) => length === 32);
  expect(whole.length).toBeGreaterThan(5);
  expect(whole.filter(counts)).toEqual([]);
});
