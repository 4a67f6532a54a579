/** The fill of a buffer, as admission sees it: the weight of a slot, and the time at which a late one is given up. */
import { describe, expect, it } from 'vitest';
import { fillOf, isHopeless } from '../../src/admission/buffer-fill.ts';
import type { BufferSlot, SecureBuffer } from '../../src/server/secure-buffer.ts';

const LEASE_MS = 1000;
const LATE_MS = 300;
/** A deposit at time 0: its lease ends at 1000, and it is late after 300. */
const slot = (status: BufferSlot['status'], graceMs = 0) => ({
  status,
  graceMs,
  user: Uint8Array.of(1, 2),
  ticket: { deadline: LEASE_MS },
});

function stageOf(
  slots: readonly ReturnType<typeof slot>[],
  { now = 0, status = 'filling' as SecureBuffer['status'], minimum = 2, coming = undefined as number | undefined } = {},
) {
  const descriptor = { bufferSize: 3, minimum, uploadLeaseMs: LEASE_MS };
  return fillOf({ descriptor, slots, status } as unknown as SecureBuffer, { now, lateMs: LATE_MS, coming }).stage;
}

const [accepted, assigned, dropped] = [slot('accepted'), slot('assigned'), slot('dropped')];

describe('a buffer', () => {
  it('names its users, those that owe an upload, and its version if it has one', () => {
    const slots = [accepted, dropped, { ...assigned, user: Uint8Array.of(3) }];
    const filled = (versions: string) => {
      const descriptor = { bufferSize: 3, minimum: 2, uploadLeaseMs: LEASE_MS, versions, version: 4 };
      const buffer = { descriptor, slots, status: 'filling' } as unknown as SecureBuffer;
      return fillOf(buffer, { now: 0, lateMs: LATE_MS });
    };
    const fill = { users: ['0102', '0102', '03'], awaited: ['03'], stage: 'full', live: 2 };
    expect(filled('one')).toEqual({ ...fill, version: 4 });
    expect(filled('unsafeMixed')).toEqual(fill);
  });

  it('is over when its devices and those that may still come are too few', () => {
    expect(stageOf([accepted], { coming: 1 })).toBe('begun');
    expect(stageOf([accepted], { coming: 0 })).toBe('over');
    expect(stageOf([], { coming: 1 })).toBe('over');
  });

  it('is hopeless once too many leases are over or no device comes any more, but not because an upload is late', () => {
    const hopeless = (slots: readonly ReturnType<typeof slot>[], coming?: number) => {
      const descriptor = { bufferSize: 3, minimum: 2 };
      return isHopeless({ descriptor, slots, status: 'filling' } as unknown as SecureBuffer, coming);
    };
    expect(hopeless([assigned, assigned, assigned])).toBe(false);
    expect(hopeless([accepted, dropped, dropped])).toBe(true);
    expect([1, 0].map((coming) => hopeless([accepted], coming))).toEqual([false, true]);
  });

  it('is empty, begun, full, and waits once nobody owes an upload', () => {
    expect(stageOf([])).toBe('empty');
    expect(stageOf([assigned])).toBe('begun');
    expect(stageOf([accepted, accepted])).toBe('begun');
    expect(stageOf([accepted, accepted, assigned])).toBe('full');
    expect(stageOf([accepted, accepted, accepted])).toBe('waiting');
    expect(stageOf([accepted, accepted, dropped])).toBe('waiting');
  });

  it.each([
    ['frozen', 'waiting'],
    ['granted', 'waiting'],
    ['included', 'over'],
    ['quarantined', 'over'],
    ['aborted', 'over'],
    ['unknown', 'over'],
  ] as const)('that is %s is %s', (status, stage) => {
    expect(stageOf([accepted], { status })).toBe(stage);
  });

  it('is over as soon as too few are left for its minimum, and not before', () => {
    expect(stageOf([dropped, accepted, accepted])).toBe('waiting');
    expect(stageOf([dropped, dropped, accepted])).toBe('over');
    expect(stageOf([dropped, accepted, accepted], { minimum: 3 })).toBe('over');
  });

  it('counts a slot as lost once it is late, to the millisecond, and later by its grace', () => {
    const at = (now: number, one = assigned) => stageOf([one, accepted, accepted], { now, minimum: 3 });
    expect([at(LATE_MS), at(LATE_MS + 1)]).toEqual(['full', 'over']);
    const graced = slot('assigned', 50);
    expect([at(LATE_MS + 50, graced), at(LATE_MS + 51, graced)]).toEqual(['full', 'over']);
    expect(at(10 * LEASE_MS, accepted)).toBe('waiting');
  });
});
