/** Finds the step of a contribution that a request belongs to. */
import type { Asked } from './service-proxy.ts';

const STEPS = {
  enrolment: /^POST .*\/enrolments$/,
  seat: /^POST .*\/seats$/,
  deposit: /^POST .*\/deposits$/,
  key: /^POST .*\/keys$/,
  upload: /^PUT .*\/upload$/,
  /** The one message of the one-shot mode. */
  shot: /^PUT .*\/shots\/[0-9a-f]+$/,
  standings: /^GET .*\/standings$/,
} as const;

export type Step = keyof typeof STEPS;

export function isStep(step: Step, { method, path }: Pick<Asked, 'method' | 'path'>): boolean {
  return STEPS[step].test(`${method} ${path}`);
}
