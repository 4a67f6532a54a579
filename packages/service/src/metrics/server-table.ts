/** The metrics of a server. */
import { DISK_SECONDS, REQUEST_SECONDS, rowsOf } from './row.ts';

const WORK_SECONDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1200];

const { counter, gauge, histogram } = rowsOf('server');

export const SERVER_METRICS = {
  basa_task_running: gauge(['task'], '1 while the task is running; 0 if it is paused or finished'),
  basa_buffers: gauge(['task', 'status'], 'Batches that have not ended: frozen, granted, opened'),
  basa_shots: gauge(
    ['task', 'state'],
    'Uploads that are not in a batch yet: arriving, waiting (for inspection), good. Only on the node that makes the batches',
  ),
  basa_places: gauge(['task'], 'Number of devices that may train at the same time'),
  basa_task_stored_bytes: gauge(['task'], 'Bytes of kept models and waiting updates, if `taskBytes` limits them'),
  basa_places_used: gauge(
    ['task'],
    'Taken places: devices that train, and updates in no version yet if places are held until then',
  ),
  basa_devices_waiting: gauge(['task'], 'Devices that wait for a place'),
  basa_buffers_waiting: gauge(['task'], 'Batches whose sum is not open yet'),
  basa_model_mean_age: gauge(['task'], 'Mean age, in versions, of the updates that the newest version was made of'),
  basa_model_version: gauge(['task'], 'Newest version that devices can download'),
  basa_model_age_seconds: gauge(['task'], 'Time since that version was made'),
  basa_model_accuracy: gauge(['task'], 'Accuracy of that version on held-out examples, if it was evaluated'),
  basa_model_r2: gauge(
    ['task'],
    'R2 of that version on held-out examples, if the task is a regression and it was evaluated',
  ),
  basa_device_metric: gauge(
    ['task', 'metric'],
    'Mean of a private metric over the devices of that version, if the task has metrics; the label metric is its name. One lying device can set it to any value in its range',
  ),
  basa_statistics_devices: gauge(['task'], 'Devices in the newest window of a statistics task that has a result'),
  basa_statistics_mean: gauge(['task', 'field'], 'Mean of a number over the devices of that window, with its noise'),
  basa_statistics_bucket_devices: gauge(
    ['task', 'field', 'bucket'],
    'Devices of that window in a bucket of a histogram, with its noise',
  ),
  basa_privacy_epsilon: gauge(['task'], 'Epsilon of a device in a private task after all participations of its budget'),
  basa_uploads_accepted_total: counter(['task'], 'Uploads accepted'),
  basa_buffers_frozen_total: counter(['task'], 'Batches that were made'),
  basa_buffers_ended_total: counter(
    ['task', 'outcome'],
    'Ended batches by outcome: included, quarantined, aborted, unknown',
  ),
  basa_buffer_lag_versions: histogram(
    ['task'],
    [0, 1, 2, 4, 8, 16, 32],
    'Number of newer versions when a batch was included',
  ),
  basa_work_seconds: histogram(
    ['work'],
    WORK_SECONDS,
    'Time of work in threads, with the wait for a free thread: sum-shard (a part of the sum without its masks), evaluate',
  ),
  basa_blob_commit_seconds: histogram(
    [],
    DISK_SECONDS,
    'Time to make the bodies of uploads durable in files or objects; small bodies are rows of the database and do not count',
  ),
  basa_authority_up: gauge([], '1 if the authority answered the last request'),
  basa_authority_faults_total: counter(
    ['task', 'authority', 'subject'],
    'Wrong answers of an authority, by its seat: mask-sum or guard-words that differ from those that enough others agree on',
  ),
  basa_authority_seconds: histogram(
    ['question'],
    REQUEST_SECONDS,
    'Requests to the authority, answered or not: policy, head, revocations, epochs, inspect, vote, release, health',
  ),
} as const;
