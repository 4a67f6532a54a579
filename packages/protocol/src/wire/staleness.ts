/** S(tau): the reduced weight of an update that was trained on an older model (FedBuff, Nguyen et al. 2022). */
import { DecodeError } from '@basa/masking';
import { checked, type Field, finite } from './fields.ts';

export type Staleness =
  | { readonly kind: 'constant' }
  /** (1 + tau)^-exponent; the exponent is 1/2 in FedBuff. */
  | { readonly kind: 'polynomial'; readonly exponent: number }
  /** 1 up to `grace`, then 1 / (slope * (tau - grace) + 1). */
  | { readonly kind: 'hinge'; readonly slope: number; readonly grace: number };

/**
 * FedBuff's weight (1 + tau)^-1/2 is 1/4 here. Without a special reason a task must not reduce weights further. Otherwise a server that
 * gives old versions to all users but one could make their updates vanish compared with that user's update.
 */
export const DEFAULT_MAX_STALENESS = 15;

/** S(tau) in (0, 1]: never zero at any age. */
export function stalenessWeight(staleness: Staleness, tau: number): number {
  return Math.max(weightOf(staleness, tau), Number.MIN_VALUE);
}

function weightOf(staleness: Staleness, tau: number): number {
  if (!(Number.isSafeInteger(tau) && tau >= 0)) throw new RangeError(`tau must be a non-negative integer, got ${tau}`);
  switch (staleness.kind) {
    case 'constant':
      return 1;
    case 'polynomial':
      // A root is the same number in every engine; a power may differ in its last bit (Node 20 and Chromium do).
      return staleness.exponent === 0.5 ? 1 / Math.sqrt(1 + tau) : (1 + tau) ** -staleness.exponent;
    case 'hinge':
      return tau <= staleness.grace ? 1 : 1 / (staleness.slope * (tau - staleness.grace) + 1);
  }
}

const CONSTANT = 0;
const POLYNOMIAL = 1;
const HINGE = 2;

const parameter: Field<number> = checked(finite, (value) =>
  value >= 0 && value <= 1e6 ? undefined : 'not in 0 .. 10^6',
);

/** A byte for the kind, then its parameters as doubles. */
export const stalenessField: Field<Staleness> = {
  write(writer, staleness) {
    if (staleness.kind === 'constant') writer.u8(CONSTANT);
    else if (staleness.kind === 'polynomial') parameter.write(writer.u8(POLYNOMIAL), staleness.exponent);
    else {
      parameter.write(writer.u8(HINGE), staleness.slope);
      parameter.write(writer, staleness.grace);
    }
  },
  read(reader, name) {
    switch (reader.u8(name)) {
      case CONSTANT:
        return { kind: 'constant' };
      case POLYNOMIAL:
        return { kind: 'polynomial', exponent: parameter.read(reader, `${name}.exponent`) };
      case HINGE:
        return {
          kind: 'hinge',
          slope: parameter.read(reader, `${name}.slope`),
          grace: parameter.read(reader, `${name}.grace`),
        };
      default:
        throw new DecodeError(name, 'no such staleness function');
    }
  },
};
