/** The phases of LightSecAgg, in rounds as with a buffer. */
import type { Phase } from '../aggregation.ts';

export const LIGHTSECAGG_PHASES: readonly Phase[] = [
  { name: 'keys', user: 'agrees with each other user, once for a training run', server: 'tells everybody the keys' },
  { name: 'offline', user: 'draws and encodes a mask; seals and opens shares', server: 'routes the sealed shares' },
  { name: 'upload', user: 'adds its mask', server: 'adds y, times its weight' },
  { name: 'recovery', user: 'adds up the shares it holds', server: 'interpolates the sum of masks and subtracts it' },
];
