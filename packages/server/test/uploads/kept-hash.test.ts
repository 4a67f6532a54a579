import { nodeCrc32, nodeSuite } from '@basa/runtime/node';
import { describe, expect, it } from 'vitest';
import { hashToKeep, isAsKept } from '../../src/uploads/body.ts';

const body = Uint8Array.of(1, 2, 3, 4, 5);

function blobs(bytes: Uint8Array, isElsewhere?: boolean) {
  return {
    isElsewhere,
    size: async () => bytes.length,
    async *read(_: string, start: number, end: number) {
      for (let at = start; at < end; at += 2) yield bytes.slice(at, Math.min(end, at + 2));
    },
  };
}

describe('a body that lies elsewhere', () => {
  it('has its hash kept when it is accepted, if it is what was received', async () => {
    expect(await hashToKeep(blobs(body, true), 'uploads/a/body', nodeCrc32(body))).toEqual(nodeSuite.sha256(body));
    await expect(hashToKeep(blobs(body, true), 'uploads/a/body', 7)).rejects.toThrow('not the one that was received');
  });

  it('that was changed since is noticed when it is summed', async () => {
    const kept = nodeSuite.sha256(body);
    expect(await isAsKept(blobs(body, true), 'uploads/a/body', kept)).toBe(true);
    expect(
      await isAsKept(
        blobs(
          body.map((byte) => byte ^ 1),
          true,
        ),
        'uploads/a/body',
        kept,
      ),
    ).toBe(false);
  });
});

it('a body on a disk or in a row of the server is not hashed', async () => {
  expect(await hashToKeep(blobs(body), 'uploads/a/body', 7)).toBeUndefined();
  expect(await hashToKeep(blobs(body, true), 'uploads/a/body-row', 7)).toBeUndefined();
  expect(await isAsKept(blobs(body), 'uploads/a/body', undefined)).toBe(true);
});
