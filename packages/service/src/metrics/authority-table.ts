/** The metrics of an authority. */
import { rowsOf } from './row.ts';

const { counter } = rowsOf('authority');

export const AUTHORITY_METRICS = {
  basa_devices_enrolled_total: counter([], 'Enrolments'),
  basa_devices_revoked_total: counter([], 'Revocations'),
} as const;
