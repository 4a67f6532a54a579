/** The metrics of an authority. */
import { DISK_SECONDS, rowsOf } from './row.ts';

const ABE_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5];

const { counter, gauge, histogram } = rowsOf('authority');

export const AUTHORITY_METRICS = {
  basa_keys_issued_total: counter([], 'Issued slot keys'),
  basa_abe_seconds: histogram(
    [],
    ABE_SECONDS,
    'Time to generate one attribute key, for slots and at the close of buffers',
  ),
  basa_buffers_drawn_total: counter([], 'Buffers drawn'),
  basa_outcomes_total: counter(['outcome'], 'Decided buffers: closed, aborted, unknown (aborted after a rollback)'),
  basa_open_buffers: gauge([], 'Buffers that are not decided yet'),
  basa_models_logged_total: counter([], 'Model versions in the log'),
  basa_devices_enrolled_total: counter([], 'Enrolments'),
  basa_devices_revoked_total: counter([], 'Revocations'),
  basa_rollbacks_total: counter([], 'Number of detected rollbacks of the log; each aborted everything that was open'),
  basa_log_records: gauge([], 'Records in the log, as this node knows it'),
  basa_witness_seconds: histogram([], DISK_SECONDS, 'Time to write the witness, with its fsync'),
} as const;
