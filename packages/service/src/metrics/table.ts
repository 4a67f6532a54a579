/** Every metric of both services, in one table: the page of metrics on the site is written from it (`npm run write -- reference`). */

// A row in the table of metrics. Labels have few values: a task, a step, a reason. None names a device, a batch or an address.

interface Metric {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly on: 'both' | 'server' | 'authority';
  readonly help: string;
  readonly labels: readonly string[];
  readonly buckets?: readonly number[];
}

type Row<Type extends Metric['type'], Labels extends readonly string[]> = Metric & {
  readonly type: Type;
  readonly labels: Labels;
};

interface Rows {
  counter<const Labels extends readonly string[]>(labels: Labels, help: string): Row<'counter', Labels>;
  gauge<const Labels extends readonly string[]>(labels: Labels, help: string): Row<'gauge', Labels>;
  histogram<const Labels extends readonly string[]>(
    labels: Labels,
    buckets: readonly number[],
    help: string,
  ): Row<'histogram', Labels>;
}

const REQUEST_SECONDS = [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
const DISK_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];
const WORK_SECONDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1200];

/** Rows of the metrics that one service has, or both. */
function rowsOf(on: Metric['on']): Rows {
  return {
    counter: (labels, help) => ({ type: 'counter', on, help, labels }),
    gauge: (labels, help) => ({ type: 'gauge', on, help, labels }),
    histogram: (labels, buckets, help) => ({ type: 'histogram', on, help, labels, buckets }),
  };
}

const [both, server, authority] = [rowsOf('both'), rowsOf('server'), rowsOf('authority')];

export const METRICS = {
  basa_requests_total: both.counter(['step', 'status'], 'Answered requests, by step and HTTP status'),
  basa_request_seconds: both.histogram(
    ['step'],
    REQUEST_SECONDS,
    'Time from the head of a request to the end of its response, including the transfer of the body',
  ),
  basa_refusals_total: both.counter(
    ['step', 'reason'],
    'Requests that were answered with a problem document, by step and code',
  ),
  basa_received_bytes_total: both.counter(['step'], 'Declared bytes of request bodies that were not refused'),
  basa_sent_bytes_total: both.counter(['step'], 'Bytes of response bodies; models are step="model" at the server'),
  basa_commit_seconds: both.histogram(
    [],
    DISK_SECONDS,
    'Time to commit a transaction that wrote: the fsync with SQLite, the COMMIT with PostgreSQL',
  ),
  basa_database_retries_total: both.counter([], 'Transactions that PostgreSQL aborted and that were tried again'),
  basa_troubles_total: both.counter(
    [],
    'Failed operations that are tried again later; the log has a line for each kind',
  ),
  basa_tls_days_left: both.gauge([], 'Days until the TLS certificate of the service ends; NaN without TLS'),
  basa_draining: both.gauge([], '1 from SIGTERM on, else 0'),
  basa_disk_free_bytes: both.gauge(
    [],
    'Free space in the file system of the data folder; missing if there is no data folder',
  ),
  basa_disk_size_bytes: both.gauge([], 'Size of that file system'),
  basa_event_loop_delay_seconds: both.gauge(
    ['quantile'],
    'Delay of timers since the last scrape; quantile 0.5, 0.99 or 1',
  ),
  process_resident_memory_bytes: both.gauge([], 'Resident memory'),
  process_heap_bytes: both.gauge([], 'JavaScript heap in use'),
  process_cpu_seconds_total: both.counter([], 'Processor time of the process, with its threads'),
  process_start_time_seconds: both.gauge([], 'Start time of the process, in seconds since 1970'),

  basa_task_running: server.gauge(['task'], '1 while the task is running; 0 if it is paused or finished'),
  basa_batches: server.gauge(['task', 'status'], 'Batches that have not ended: frozen, granted, opened'),
  basa_shots: server.gauge(
    ['task', 'state'],
    'Uploads that are not in a batch yet: arriving, waiting (for inspection), good. Only on the node that makes the batches',
  ),
  basa_places: server.gauge(['task'], 'Number of devices that may train at the same time'),
  basa_task_stored_bytes: server.gauge(
    ['task'],
    'Bytes of kept models and waiting updates, if `taskBytes` limits them',
  ),
  basa_places_used: server.gauge(
    ['task'],
    'Taken places: devices that train, and updates in no version yet if places are held until then',
  ),
  basa_devices_waiting: server.gauge(['task'], 'Devices that wait for a place'),
  basa_batches_waiting: server.gauge(['task'], 'Batches whose sum is not open yet'),
  basa_model_mean_age: server.gauge(
    ['task'],
    'Mean age, in versions, of the updates that the newest version was made of',
  ),
  basa_model_version: server.gauge(['task'], 'Newest version that devices can download'),
  basa_model_age_seconds: server.gauge(['task'], 'Time since that version was made'),
  basa_model_accuracy: server.gauge(['task'], 'Accuracy of that version on held-out examples, if it was evaluated'),
  basa_model_r2: server.gauge(
    ['task'],
    'R2 of that version on held-out examples, if the task is a regression and it was evaluated',
  ),
  basa_device_metric: server.gauge(
    ['task', 'metric'],
    'Mean of a private metric over the devices of that version, if the task has metrics; the label metric is its name. One lying device can set it to any value in its range',
  ),
  basa_statistics_devices: server.gauge(
    ['task'],
    'Devices in the newest window of a statistics task that has a result',
  ),
  basa_statistics_mean: server.gauge(
    ['task', 'field'],
    'Mean of a number over the devices of that window, with its noise',
  ),
  basa_statistics_bucket_devices: server.gauge(
    ['task', 'field', 'bucket'],
    'Devices of that window in a bucket of a histogram, with its noise',
  ),
  basa_privacy_epsilon: server.gauge(
    ['task'],
    'Epsilon of a device in a private task after all participations of its budget',
  ),
  basa_uploads_accepted_total: server.counter(['task'], 'Uploads accepted'),
  basa_batches_frozen_total: server.counter(['task'], 'Batches that were made'),
  basa_batches_ended_total: server.counter(
    ['task', 'outcome'],
    'Ended batches by outcome: included, quarantined, aborted, unknown',
  ),
  basa_batch_lag_versions: server.histogram(
    ['task'],
    [0, 1, 2, 4, 8, 16, 32],
    'Number of newer versions when a batch was included',
  ),
  basa_work_seconds: server.histogram(
    ['work'],
    WORK_SECONDS,
    'Time of work in threads, with the wait for a free thread: sum-shard (a part of the sum without its masks), evaluate',
  ),
  basa_blob_commit_seconds: server.histogram(
    [],
    DISK_SECONDS,
    'Time to make the bodies of uploads durable in files or objects; small bodies are rows of the database and do not count',
  ),
  basa_authority_up: server.gauge([], '1 if the authority answered the last request'),
  basa_authority_faults_total: server.counter(
    ['task', 'authority', 'subject'],
    'Wrong answers of an authority, by its index: mask-sum or guard-words that differ from those that enough others agree on',
  ),
  basa_authority_seconds: server.histogram(
    ['question'],
    REQUEST_SECONDS,
    'Requests to the authority, answered or not: policy, head, revocations, epochs, inspect, vote, release, health',
  ),

  basa_devices_enrolled_total: authority.counter([], 'Enrolments'),
  basa_devices_revoked_total: authority.counter([], 'Revocations'),
} as const;

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
