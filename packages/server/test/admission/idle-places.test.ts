/** Idle devices take every place they can get; honest ones come through, and slow ones are not taken for idle. */
import { randomStream } from '@basa/learning';
import { describe, expect, it } from 'vitest';
import { honest, idle, PlaceFleet, SECOND_MS } from '../support/place-fleet.ts';

const LEASE_MS = 600 * SECOND_MS;
const FIRST_MS = LEASE_MS / 8;
const HOUR_MS = 3600 * SECOND_MS;
const [IDLE, PLACES, HONEST] = [14, 12, 10];

function fleetOf(seed: number): Promise<PlaceFleet> {
  const random = randomStream(seed, 'fleet');
  return PlaceFleet.open({ places: PLACES, bufferSize: 10, uploadLeaseMs: LEASE_MS, random: () => random.unit() });
}

describe('fourteen idle devices at twelve places', () => {
  const attacks: [string, (fleet: PlaceFleet) => (device: number) => Promise<unknown>][] = [
    ['that ask', (fleet) => (device) => fleet.ask(device)],
    [
      'that give their places back just before they lapse',
      (fleet) => async (device) => {
        const answer = await fleet.ask(device);
        if (answer?.kind === 'place' && answer.leftMs <= SECOND_MS) await fleet.giveBack(device);
      },
    ],
  ];

  it.each(attacks)('%s hold up ten honest ones for three first leases at most', async (_, attack) => {
    const fleet = await fleetOf(1);
    for (let n = 0; n < IDLE; n++) idle(fleet, n, attack(fleet));
    for (let n = 0; n < HONEST; n++) honest(fleet, 100 + n, () => 20 * SECOND_MS, 10 * SECOND_MS);
    await fleet.runUntil(HOUR_MS / 3);
    const firsts = Array.from({ length: HONEST }, (_, n) => fleet.given.get(100 + n)?.[0] ?? Number.POSITIVE_INFINITY);
    expect(Math.max(...firsts)).toBeLessThan(3 * FIRST_MS);
    // Then they go on nearly as if nobody else were there: 10 of them in 12 places, 21 seconds a round.
    const all = Array.from({ length: HONEST }, (_, n) => fleet.given.get(100 + n)?.length ?? 0);
    expect(Math.min(...all)).toBeGreaterThan(35);
    expect([...fleet.refused].every((device) => device < IDLE)).toBe(true);
  });

  it('are refused for a while once each has left twenty places unused', async () => {
    const fleet = await fleetOf(2);
    for (let n = 0; n < IDLE; n++) idle(fleet, n, (device) => fleet.ask(device));
    await fleet.runUntil(HOUR_MS / 2);
    expect(fleet.refused.size).toBe(IDLE);
  });
});

describe('slow devices', () => {
  it('that train longer than any lease are never taken for idle', async () => {
    const fleet = await fleetOf(3);
    const random = randomStream(3, 'training');
    // A median of five minutes; one in four takes longer than the longest lease of ten.
    const trainMs = () => 300 * SECOND_MS * Math.exp(random.normal());
    for (let n = 0; n < 16; n++) honest(fleet, n, trainMs, n * SECOND_MS);
    await fleet.runUntil(HOUR_MS);
    expect(fleet.refused.size).toBe(0);
    for (let n = 0; n < 16; n++) expect([n, await fleet.unused(n)]).toEqual([n, 0]);
    expect(fleet.given.size).toBe(16);
  });

  it('that also give up every third time are not refused', async () => {
    const fleet = await fleetOf(4);
    const random = randomStream(4, 'training');
    const trainMs = () => 60 * SECOND_MS * Math.exp(random.normal());
    for (let n = 0; n < 16; n++) honest(fleet, n, trainMs, n * SECOND_MS, () => random.unit() < 1 / 3);
    await fleet.runUntil(HOUR_MS);
    expect(fleet.refused.size).toBe(0);
    expect(fleet.given.size).toBe(16);
  });
});

describe('a crowd that waits', () => {
  it('is served in the order of arrival, and every device is served in the end', async () => {
    const fleet = await fleetOf(5);
    for (let n = 0; n < 36; n++) honest(fleet, n, () => 20 * SECOND_MS, n);
    await fleet.runUntil(HOUR_MS / 6);
    const counts = Array.from({ length: 36 }, (_, n) => fleet.given.get(n)?.length ?? 0);
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(3);
    const firsts = Array.from({ length: 36 }, (_, n) => fleet.given.get(n)?.[0] ?? 0);
    // Nobody is served before one that came a round of places earlier.
    for (let n = PLACES; n < 36; n++) expect(firsts[n]).toBeGreaterThanOrEqual(firsts[n - PLACES] as number);
  });
});
