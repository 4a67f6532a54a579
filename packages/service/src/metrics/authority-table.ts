/** The metrics of an authority. */
import { DISK_SECONDS, rowsOf } from './row.ts';

const { counter, gauge, histogram } = rowsOf('authority');

export const AUTHORITY_METRICS = {
  basa_devices_enrolled_total: counter([], 'Enrolments'),
  basa_devices_revoked_total: counter([], 'Revocations'),
  basa_rollbacks_total: counter([], 'Number of detected rollbacks of the log; each ended every open epoch'),
  basa_log_records: gauge([], 'Records in the log'),
  basa_witness_seconds: histogram([], DISK_SECONDS, 'Time to write the witness, with its fsync'),
} as const;
