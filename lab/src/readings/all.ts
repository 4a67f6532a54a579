/** The attacks on what sums say (docs/evidence.md). */
import { FISH, FISH_LR } from './fish.ts';
import { LEAVE_ONE_OUT } from './leave-one-out.ts';
import { SYBILS_READ, THEFT } from './owners.ts';
import type { ReadingAttack } from './reading.ts';
import { REFUSALS_READ, TIMING } from './side-channels.ts';
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
