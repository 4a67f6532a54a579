/** The attacks on what sums say (docs/evidence.md). */
import { FISH, FISH_LR } from './fish.ts';
import { LEAVE_ONE_OUT } from './leave-one-out.ts';
import type { ReadingAttack } from './reading.ts';
import { REFUSALS_READ } from './refusals.ts';
import { SYBILS_READ } from './sybils.ts';
import { THEFT } from './theft.ts';
import { TIMING } from './timing.ts';
import { WHISPER } from './whisper.ts';

export const READINGS: readonly ReadingAttack[] = [
  FISH,
  FISH_LR,
  WHISPER,
  REFUSALS_READ,
  TIMING,
  SYBILS_READ,
  THEFT,
  LEAVE_ONE_OUT,
];
