/**
 * Every metric of both services, in one table: docs/metrics.md is written from it (`npm run write -- metrics`). Labels have few
 * values: a task, a step, a reason. None names a device, a buffer or an address.
 */

interface Metric {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly on: 'both' | 'server' | 'authority';
  readonly help: string;
  readonly labels: readonly string[];
  readonly buckets?: readonly number[];
}

const REQUEST_SECONDS = [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
const DISK_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];
const WORK_SECONDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1200];
const ABE_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5];

export const METRICS = {
  basa_requests_total: {
    type: 'counter',
    on: 'both',
    help: 'Requests answered, by step and HTTP status',
    labels: ['step', 'status'],
  },
  basa_request_seconds: {
    type: 'histogram',
    on: 'both',
    help: 'Time from the head of a request to the end of its answer, with the body on its way',
    labels: ['step'],
    buckets: REQUEST_SECONDS,
  },
  basa_refusals_total: {
    type: 'counter',
    on: 'both',
    help: 'Requests answered with a problem document, by step and its code; keys refused are step="key" at the authority',
    labels: ['step', 'reason'],
  },
  basa_received_bytes_total: {
    type: 'counter',
    on: 'both',
    help: 'Bytes of request bodies that were not refused, as declared',
    labels: ['step'],
  },
  basa_sent_bytes_total: {
    type: 'counter',
    on: 'both',
    help: 'Bytes of answer bodies; models are step="model" at the server',
    labels: ['step'],
  },
  basa_commit_seconds: {
    type: 'histogram',
    on: 'both',
    help: 'Commits of transactions that wrote: with SQLite the fsync, with PostgreSQL the COMMIT',
    labels: [],
    buckets: DISK_SECONDS,
  },
  basa_database_retries_total: {
    type: 'counter',
    on: 'both',
    help: 'Transactions that PostgreSQL could not do and that were tried again',
    labels: [],
  },
  basa_troubles_total: {
    type: 'counter',
    on: 'both',
    help: 'Faults that are tried again later; the log has one line for each',
    labels: [],
  },
  basa_draining: {
    type: 'gauge',
    on: 'both',
    help: '1 from SIGTERM on, else 0',
    labels: [],
  },
  basa_disk_free_bytes: {
    type: 'gauge',
    on: 'both',
    help: 'Free space where the data folder lies; left out where there is none',
    labels: [],
  },
  basa_disk_size_bytes: { type: 'gauge', on: 'both', help: 'Size of the same file system', labels: [] },
  basa_event_loop_delay_seconds: {
    type: 'gauge',
    on: 'both',
    help: 'How late timers were since the last scrape; quantile 0.5, 0.99 or 1',
    labels: ['quantile'],
  },
  process_resident_memory_bytes: { type: 'gauge', on: 'both', help: 'Resident memory', labels: [] },
  process_heap_bytes: { type: 'gauge', on: 'both', help: 'JavaScript heap in use', labels: [] },
  process_cpu_seconds_total: {
    type: 'counter',
    on: 'both',
    help: 'Processor time of the process, with its threads',
    labels: [],
  },
  process_start_time_seconds: {
    type: 'gauge',
    on: 'both',
    help: 'When the process started, since 1970',
    labels: [],
  },

  basa_task_running: {
    type: 'gauge',
    on: 'server',
    help: '1 while the task gives seats; 0 where it is paused or finished',
    labels: ['task'],
  },
  basa_buffers: {
    type: 'gauge',
    on: 'server',
    help: 'Buffers that have not ended: filling, frozen, granted',
    labels: ['task', 'status'],
  },
  basa_buffer_fill_ratio: {
    type: 'gauge',
    on: 'server',
    help: 'Accepted uploads of the oldest filling buffer, of its K slots',
    labels: ['task'],
  },
  basa_buffer_age_seconds: {
    type: 'gauge',
    on: 'server',
    help: 'Age of the oldest buffer that has not ended; 0 where there is none',
    labels: ['task'],
  },
  basa_slots: {
    type: 'gauge',
    on: 'server',
    help: 'Slots of buffers that have not ended: free, assigned, accepted, dropped',
    labels: ['task', 'state'],
  },
  basa_leases: {
    type: 'gauge',
    on: 'server',
    help: 'Leases of assigned slots: running, or overdue (they end with the next tick)',
    labels: ['task', 'state'],
  },
  basa_places: {
    type: 'gauge',
    on: 'server',
    help: 'Devices that may be under way at a time',
    labels: ['task'],
  },
  basa_places_used: {
    type: 'gauge',
    on: 'server',
    help: 'Places that are taken: devices that train, and slots of buffers that have not ended',
    labels: ['task'],
  },
  basa_devices_waiting: {
    type: 'gauge',
    on: 'server',
    help: 'Devices that were told to ask for a place again',
    labels: ['task'],
  },
  basa_devices_suspected: {
    type: 'gauge',
    on: 'server',
    help: 'Devices that are suspected because sums were spoilt beside them, and not suspended',
    labels: ['task'],
  },
  basa_devices_suspended: {
    type: 'gauge',
    on: 'server',
    help: 'Devices that get no seat because sums were spoilt beside them too often',
    labels: ['task'],
  },
  basa_buffers_waiting: {
    type: 'gauge',
    on: 'server',
    help: 'Closed buffers whose sum is not open yet',
    labels: ['task'],
  },
  basa_model_mean_age: {
    type: 'gauge',
    on: 'server',
    help: 'Mean age, in versions, of the updates that the newest version was made of',
    labels: ['task'],
  },
  basa_model_version: { type: 'gauge', on: 'server', help: 'Newest version that users may have', labels: ['task'] },
  basa_model_age_seconds: { type: 'gauge', on: 'server', help: 'Time since that version was made', labels: ['task'] },
  basa_model_accuracy: {
    type: 'gauge',
    on: 'server',
    help: 'Accuracy of that version on held-out examples, where it was evaluated',
    labels: ['task'],
  },
  basa_device_metric: {
    type: 'gauge',
    on: 'server',
    help: "Mean of a private metric over the devices of that version, where the task names some; metric is the task's name for it",
    labels: ['task', 'metric'],
  },
  basa_privacy_epsilon: {
    type: 'gauge',
    on: 'server',
    help: 'Epsilon of a device of a private task after all participations that its budget has',
    labels: ['task'],
  },
  basa_seats_total: { type: 'counter', on: 'server', help: 'Seats given', labels: ['task'] },
  basa_deposits_total: {
    type: 'counter',
    on: 'server',
    help: 'Slots assigned: one for each deposit',
    labels: ['task'],
  },
  basa_uploads_accepted_total: { type: 'counter', on: 'server', help: 'Uploads accepted', labels: ['task'] },
  basa_slots_dropped_total: {
    type: 'counter',
    on: 'server',
    help: 'Slots that came to nothing: lease-over, void-edge, left-out',
    labels: ['task', 'why'],
  },
  basa_buffers_frozen_total: {
    type: 'counter',
    on: 'server',
    help: 'Buffers that take no more uploads: resolved, stalled, expired',
    labels: ['task', 'why'],
  },
  basa_buffers_ended_total: {
    type: 'counter',
    on: 'server',
    help: 'Buffers by what became of them: included, quarantined, aborted, unknown',
    labels: ['task', 'outcome'],
  },
  basa_buffer_lag_versions: {
    type: 'histogram',
    on: 'server',
    help: 'Versions the model moved on while a buffer filled: all that a server can know of staleness',
    labels: ['task'],
    buckets: [0, 1, 2, 4, 8, 16, 32],
  },
  basa_work_seconds: {
    type: 'histogram',
    on: 'server',
    help: 'Work of the threads, with the wait for a free one: open-terms (attribute-based decryption of seeds), sum-shard (masks taken off a part of the sum), evaluate',
    labels: ['work'],
    buckets: WORK_SECONDS,
  },
  basa_blob_commit_seconds: {
    type: 'histogram',
    on: 'server',
    help: 'Bodies of uploads made durable: in files the fsync',
    labels: [],
    buckets: DISK_SECONDS,
  },
  basa_authority_up: {
    type: 'gauge',
    on: 'server',
    help: '1 if the authority answered the last time it was asked',
    labels: [],
  },
  basa_authority_seconds: {
    type: 'histogram',
    on: 'server',
    help: 'Questions to the authority, answered or not: policy, draw, close, log, outcome, health',
    labels: ['question'],
    buckets: REQUEST_SECONDS,
  },

  basa_keys_issued_total: { type: 'counter', on: 'authority', help: 'Keys of slots issued', labels: [] },
  basa_abe_seconds: {
    type: 'histogram',
    on: 'authority',
    help: 'KeyGen of one attribute key, for slots and at the close of buffers',
    labels: [],
    buckets: ABE_SECONDS,
  },
  basa_buffers_drawn_total: { type: 'counter', on: 'authority', help: 'Buffers drawn', labels: [] },
  basa_outcomes_total: {
    type: 'counter',
    on: 'authority',
    help: 'Buffers decided: closed, aborted, unknown (given up after a rollback)',
    labels: ['outcome'],
  },
  basa_open_buffers: { type: 'gauge', on: 'authority', help: 'Buffers that are not decided', labels: [] },
  basa_models_logged_total: { type: 'counter', on: 'authority', help: 'Versions of models logged', labels: [] },
  basa_devices_enrolled_total: { type: 'counter', on: 'authority', help: 'Enrolments', labels: [] },
  basa_devices_revoked_total: { type: 'counter', on: 'authority', help: 'Revocations', labels: [] },
  basa_rollbacks_total: {
    type: 'counter',
    on: 'authority',
    help: 'Times the log was found to be rolled back: everything open was given up',
    labels: [],
  },
  basa_log_records: { type: 'gauge', on: 'authority', help: 'Records in the log, as this node knows it', labels: [] },
  basa_witness_seconds: {
    type: 'histogram',
    on: 'authority',
    help: 'Writes of the witness, with their fsync',
    labels: [],
    buckets: DISK_SECONDS,
  },
} as const satisfies Readonly<Record<string, Metric>>;

export type MetricName = keyof typeof METRICS;
export type MetricOf<Type extends Metric['type']> = {
  [Name in MetricName]: (typeof METRICS)[Name]['type'] extends Type ? Name : never;
}[MetricName];
export type Labels<Name extends MetricName> = Readonly<Record<(typeof METRICS)[Name]['labels'][number], string>>;

/** The rows of one service, without their literal types. */
export function metricsOf(service: 'server' | 'authority'): readonly (readonly [MetricName, Metric])[] {
  const rows = Object.entries(METRICS) as [MetricName, Metric][];
  return rows.filter(([, { on }]) => on === 'both' || on === service);
}
