/** The metrics that both services have. */
import { DISK_SECONDS, REQUEST_SECONDS, rowsOf } from './row.ts';

const { counter, gauge, histogram } = rowsOf('both');

export const SHARED_METRICS = {
  basa_requests_total: counter(['step', 'status'], 'Answered requests, by step and HTTP status'),
  basa_request_seconds: histogram(
    ['step'],
    REQUEST_SECONDS,
    'Time from the head of a request to the end of its response, including the transfer of the body',
  ),
  basa_refusals_total: counter(
    ['step', 'reason'],
    'Requests that were answered with a problem document, by step and code',
  ),
  basa_received_bytes_total: counter(['step'], 'Declared bytes of request bodies that were not refused'),
  basa_sent_bytes_total: counter(['step'], 'Bytes of response bodies; models are step="model" at the server'),
  basa_commit_seconds: histogram(
    [],
    DISK_SECONDS,
    'Time to commit a transaction that wrote: the fsync with SQLite, the COMMIT with PostgreSQL',
  ),
  basa_database_retries_total: counter([], 'Transactions that PostgreSQL aborted and that were tried again'),
  basa_troubles_total: counter([], 'Failed operations that are tried again later; the log has one line for each'),
  basa_draining: gauge([], '1 from SIGTERM on, else 0'),
  basa_disk_free_bytes: gauge(
    [],
    'Free space in the file system of the data folder; missing if there is no data folder',
  ),
  basa_disk_size_bytes: gauge([], 'Size of that file system'),
  basa_event_loop_delay_seconds: gauge(['quantile'], 'Delay of timers since the last scrape; quantile 0.5, 0.99 or 1'),
  process_resident_memory_bytes: gauge([], 'Resident memory'),
  process_heap_bytes: gauge([], 'JavaScript heap in use'),
  process_cpu_seconds_total: counter([], 'Processor time of the process, with its threads'),
  process_start_time_seconds: gauge([], 'Start time of the process, in seconds since 1970'),
} as const;
