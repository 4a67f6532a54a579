/** The metrics of an authority. */
import { DISK_SECONDS, rowsOf } from './row.ts';

const ABE_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5];

const { counter, gauge, histogram } = rowsOf('authority');

export const AUTHORITY_METRICS = {
  basa_keys_issued_total: counter([], 'Keys of slots issued'),
  basa_abe_seconds: histogram([], ABE_SECONDS, 'KeyGen of one attribute key, for slots and at the close of buffers'),
  basa_buffers_drawn_total: counter([], 'Buffers drawn'),
  basa_outcomes_total: counter(['outcome'], 'Buffers decided: closed, aborted, unknown (given up after a rollback)'),
  basa_open_buffers: gauge([], 'Buffers that are not decided'),
  basa_models_logged_total: counter([], 'Versions of models logged'),
  basa_devices_enrolled_total: counter([], 'Enrolments'),
  basa_devices_revoked_total: counter([], 'Revocations'),
  basa_rollbacks_total: counter([], 'Times the log was found to be rolled back: everything open was given up'),
  basa_log_records: gauge([], 'Records in the log, as this node knows it'),
  basa_witness_seconds: histogram([], DISK_SECONDS, 'Writes of the witness, with their fsync'),
} as const;
