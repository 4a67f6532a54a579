/** The opened sums that make a version, and the time at which they do. */
import type { Ctx } from '@basa/protocol';
import { nextVersion, versionRule } from '@basa/protocol/internal/one-shot/sums.ts';
import { MAX_SUMS } from '@basa/protocol/internal/wire/fields.ts';
import { ONE_SHOT_DEFAULTS } from '@basa/protocol/policy';
import { describe, expect, it } from 'vitest';

/** `g` for a good sum, `s` for a spoilt one. */
function opened(letters: string) {
  return [...letters].map((letter, n) => ({
    ctx: new Uint8Array(32).fill(n) as Ctx,
    isSpoilt: letter === 's',
    updates: 10,
  }));
}

/** From sums of ten updates. */
function made(stepUpdates: number, letters: string, isLast = false, combine: 'mean' | 'trimmed' = 'mean') {
  const version = nextVersion({ stepUpdates, combine }, opened(letters), isLast);
  return version && `${version.sums.length} and ${version.spoilt.length}`;
}

describe('the next version', () => {
  it('is made of one sum if one is enough', () => {
    expect(versionRule({ oneShot: undefined })).toEqual(ONE_SHOT_DEFAULTS);
    expect([made(1, ''), made(1, 'g'), made(1, 's')]).toEqual([undefined, '1 and 0', '0 and 1']);
  });

  it('waits for as many updates as the policy says, those of spoilt sums counted, and takes all that are there', () => {
    expect([made(21, 'gg'), made(21, 'ggg'), made(21, 'gsgg'), made(21, 'sss')]).toEqual([
      undefined,
      '3 and 0',
      '3 and 1',
      '0 and 3',
    ]);
  });

  it('is made of fewer if no more come', () => {
    expect([made(21, '', true), made(21, 'g', true), made(21, 's', true)]).toEqual([undefined, '1 and 0', '0 and 1']);
  });

  it('by a trimmed mean needs five good ones, unless all are spoilt', () => {
    const trimmed = (letters: string, isLast = false) => made(60, letters, isLast, 'trimmed');
    expect([trimmed('ggggss'), trimmed('gggg', true), trimmed('gggggs'), trimmed('ggggg', true)]).toEqual([
      undefined,
      undefined,
      '5 and 1',
      '5 and 0',
    ]);
    expect([trimmed('ssssss'), trimmed('s', true)]).toEqual(['0 and 6', '0 and 1']);
  });

  it('names no more than an entry of the log may, and leaves the rest for the next one', () => {
    expect(made(1e6, 'g'.repeat(MAX_SUMS + 3))).toBe(`${MAX_SUMS} and 0`);
  });
});
