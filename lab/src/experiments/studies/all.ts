/** All studies. Those of the paper come first. */
import type { Study } from '../run/context.ts';
import { ablation } from './ablation.ts';
import { admission } from './admission.ts';
import { bandwidth } from './bandwidth.ts';
import { capacity } from './capacity.ts';
import { concurrency } from './concurrency.ts';
import { dropouts } from './dropouts.ts';
import { largeScale } from './large-scale.ts';
import { liars } from './liars.ts';
import { modelCheck } from './model-check.ts';
import { privacy } from './privacy.ts';
import { quantisation } from './quantisation.ts';
import { rates } from './rates.ts';
import { scalability } from './scalability.ts';
import { scale } from './scale.ts';
import { stragglers } from './stragglers.ts';
import { sums } from './sums.ts';
import { table1 } from './table1.ts';
import { versions } from './versions.ts';

export const STUDIES: readonly Study[] = [
  rates,
  table1,
  largeScale,
  scalability,
  concurrency,
  admission,
  versions,
  stragglers,
  sums,
  liars,
  dropouts,
  bandwidth,
  quantisation,
  ablation,
  scale,
  capacity,
  modelCheck,
  privacy,
];
