/** Worlds that the explorer walks through: every one of them must keep every promise. */
import type { ExploreOptions } from './explore.ts';
import type { SettledFate } from './invariants.ts';

export interface NamedWorld extends ExploreOptions {
  readonly name: string;
}

/** Every one of them is explored to the end. */
export const SMALL_WORLDS: readonly (NamedWorld & { readonly shows: readonly SettledFate[] })[] = [
  {
    name: 'two users, with a crash after any record',
    bufferSize: 2,
    crashes: true,
    shows: ['included', 'aborted'],
  },
  {
    name: 'two users, one of whom seals garbage for itself',
    bufferSize: 2,
    cheat: 'self',
    shows: ['quarantined', 'aborted'],
  },
  { name: 'two users and an authority that loses a record', bufferSize: 2, rollback: true, shows: ['included'] },
  {
    name: 'three users without clocks, with slot keys',
    bufferSize: 3,
    still: true,
    engine: 'slot keys',
    shows: ['included'],
  },
  {
    name: 'two users with slot keys, one of whom seals garbage for itself',
    bufferSize: 2,
    still: true,
    engine: 'slot keys',
    cheat: 'self',
    shows: ['quarantined'],
  },
  {
    name: 'three users without clocks, with a crash after any record',
    bufferSize: 3,
    still: true,
    crashes: true,
    shows: ['included'],
  },
  {
    name: 'three users without clocks, one of whom seals garbage to others',
    bufferSize: 3,
    still: true,
    cheat: 'edges',
    shows: ['included', 'excluded', 'quarantined'],
  },
  {
    name: 'three users and two buffers of two, without clocks',
    bufferSize: 2,
    users: 3,
    buffers: 2,
    still: true,
    shows: ['included'],
  },
];

/** As far as the budget goes. */
export const LARGE_WORLDS: readonly NamedWorld[] = [
  { name: 'three users', bufferSize: 3 },
  { name: 'two users and two buffers', bufferSize: 2, buffers: 2 },
];

export const LONG_WORLDS: readonly NamedWorld[] = [
  ...LARGE_WORLDS,
  { name: 'three users, with a crash after any record', bufferSize: 3, crashes: true },
  { name: 'three users, one of whom seals garbage to others', bufferSize: 3, cheat: 'edges' },
  { name: 'three users and an authority that loses a record', bufferSize: 3, rollback: true },
  { name: 'three users and two buffers of two', bufferSize: 2, users: 3, buffers: 2 },
];

/** Two of three authorities must be enough: one without a record of any slot, and one with records. */
export const ONE_IS_GONE: ExploreOptions = { ...councilOf(3, 2, { missed: [2], gone: [0] }), still: true };

/** Several authorities and a server, starting from a filled buffer. `isSmall` tells whether all states are reached. */
export const COUNCIL_WORLDS: readonly (NamedWorld & { readonly isSmall: boolean })[] = [
  { ...councilOf(2, 2), name: '2 of 2 authorities without clocks', still: true, isSmall: true },
  { ...councilOf(2, 2), name: '2 of 2 authorities, each with a clock', isSmall: true },
  {
    ...ONE_IS_GONE,
    name: '2 of 3 authorities without clocks: one was never reached by users, and one is down',
    isSmall: true,
  },
  {
    bufferSize: 2,
    council: { authorities: 2, threshold: 2, isEmpty: true },
    engine: 'slot keys',
    still: true,
    name: '2 of 2 authorities without clocks, and two users in an empty buffer',
    isSmall: true,
  },
  {
    bufferSize: 2,
    council: { authorities: 3, threshold: 2, isEmpty: true },
    engine: 'slot keys',
    crashes: true,
    still: true,
    name: '2 of 3 authorities without clocks and two users in an empty buffer, with a crash after any record',
    isSmall: false,
  },
  { ...councilOf(4, 3), name: '3 of 4 authorities without clocks', still: true, isSmall: false },
  { ...councilOf(4, 3), name: '3 of 4 authorities, each with a clock', isSmall: false },
];

export function councilOf(
  authorities: number,
  threshold: number,
  more: Partial<ExploreOptions['council']> = {},
): ExploreOptions {
  return { bufferSize: 4, engine: 'slot keys', council: { authorities, threshold, ...more }, crashes: true };
}
