import { describe, expect, it } from 'vitest';
import { faultsOf, type HistoryCall, mayHaveBegun } from '../../src/trials/crash/history.ts';

const CTX = 'ab'.repeat(32);
const slot = (device: number, place: number, begun: number, ended: number): HistoryCall => ({
  kind: 'slot',
  device,
  ctx: CTX,
  slot: place,
  begun,
  ended,
});
const status = (word: string, begun: number, ended: number): HistoryCall => ({
  kind: 'status',
  device: -1,
  ctx: CTX,
  status: word,
  begun,
  ended,
});
const faults = (...history: readonly HistoryCall[]): readonly string[] => faultsOf(history, 3);

describe('a history of calls', () => {
  it('that overlap may have happened in either order', () => {
    expect(faults(slot(1, 1, 0, 10), slot(2, 0, 5, 15))).toEqual([]);
  });

  it('that followed each other happened in this order', () => {
    expect(faults(slot(1, 1, 0, 10), slot(2, 0, 11, 15))).toEqual([
      expect.stringContaining('slot 0 was given after slot 1'),
    ]);
  });

  it('begins at the first unanswered request of its device: the server may have acted then', () => {
    expect(mayHaveBegun(11, { told: [11], unknown: [4, 7] })).toBe(4);
    expect(mayHaveBegun(11, { told: [5, 11], unknown: [4, 7] })).toBe(7);
    expect(mayHaveBegun(11, { told: [5, 11], unknown: [4] })).toBe(11);
    const asked = { told: [11], unknown: [4] };
    expect(faults(slot(1, 1, 0, 10), slot(2, 0, mayHaveBegun(11, asked), 15))).toEqual([]);
  });

  it('may repeat an answer much later', () => {
    expect(faults(slot(1, 0, 0, 1), slot(2, 1, 2, 3), slot(1, 0, 9, 10))).toEqual([]);
  });

  it('shows a slot with two owners, a device with two slots, and a slot too many', () => {
    expect(faults(slot(1, 0, 0, 10), slot(2, 0, 5, 10))).toEqual([expect.stringContaining('devices 1 and 2')]);
    expect(faults(slot(1, 0, 0, 10), slot(1, 2, 5, 12))).toEqual([expect.stringContaining('slots 0 and 2')]);
    expect(faults(slot(1, 3, 0, 10))).toEqual([expect.stringContaining('slot 3 of 3')]);
  });

  it('shows an upload of another device', () => {
    const accept: HistoryCall = { kind: 'accept', device: 2, ctx: CTX, slot: 0, begun: 20, ended: 21 };
    expect(faults(slot(1, 0, 0, 1), accept)).toEqual([expect.stringContaining('upload of slot 0')]);
  });

  it('shows a buffer that goes back, and a device that was admitted after its end', () => {
    expect(faults(status('frozen', 0, 1), status('filling', 2, 3))).toEqual([expect.stringContaining('go back')]);
    expect(faults(status('frozen', 0, 9), status('filling', 2, 3))).toEqual([]);
    const accept: HistoryCall = { kind: 'accept', device: 1, ctx: CTX, slot: 0, begun: 5, ended: 6 };
    expect(faults(status('granted', 0, 4), accept)).toEqual([
      expect.stringContaining('after the buffer was seen frozen'),
    ]);
    expect(faults(status('granted', 0, 4), { ...accept, begun: 3 })).toEqual([]);
    const seat: HistoryCall = { kind: 'seat', device: 1, ctx: CTX, begun: 5, ended: 6 };
    expect(faults(status('frozen', 0, 4), seat)).toEqual([expect.stringContaining('seat of device 1')]);
  });

  it('of several buffers is judged buffer by buffer', () => {
    expect(faultsOf([slot(1, 1, 0, 1), { ...slot(2, 0, 2, 3), ctx: 'cd'.repeat(32) }], 3)).toEqual([]);
  });
});
