/** All studies. Those of the paper come first. */
import type { Study } from '../run/context.ts';
import { concurrency } from './concurrency.ts';
import { largeScale } from './large-scale.ts';
import { modelCheck } from './model-check.ts';
import { oneShot } from './one-shot.ts';
import { privacy } from './privacy.ts';
import { rates } from './rates.ts';
import { scalability } from './scalability.ts';
import { slowTenth } from './slow-tenth.ts';
import { table1 } from './table1.ts';

export const STUDIES: readonly Study[] = [
  rates,
  table1,
  largeScale,
  scalability,
  concurrency,
  oneShot,
  slowTenth,
  modelCheck,
  privacy,
];
