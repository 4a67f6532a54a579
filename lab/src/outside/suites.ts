/** Every suite that holds a platform in TypeScript to published cases; bundled for Chromium too. */
import { ACVP } from './acvp.ts';
import { CCTV } from './cctv.ts';
import { CURVE } from './curve.ts';
import { GAUSSIAN } from './gaussian.ts';
import type { OutsideSuite } from './suite.ts';
import { WYCHEPROOF } from './wycheproof.ts';

const named = (from: string, suites: Readonly<Record<string, OutsideSuite>>): [string, OutsideSuite][] =>
  Object.entries(suites).map(([name, suite]) => [`${from} ${name}`, suite]);

export const SUITES: Readonly<Record<string, OutsideSuite>> = Object.fromEntries([
  ...named('Wycheproof', WYCHEPROOF),
  ...named('CCTV', CCTV),
  ...named('ACVP', ACVP),
  ...named('curve', CURVE),
  ['libprio discrete Gaussian', GAUSSIAN],
]);
