/** The metrics that both services have. */
import { DISK_SECONDS, REQUEST_SECONDS, rowsOf } from './row.ts';

const { counter, gauge, histogram } = rowsOf('both');

export const SHARED_METRICS = {
  basa_requests_total: counter(['step', 'status'], 'Requests answered, by step and HTTP status'),
  basa_request_seconds: histogram(
    ['step'],
    REQUEST_SECONDS,
    'Time from the head of a request to the end of its answer, with the body on its way',
  ),
  basa_refusals_total: counter(
    ['step', 'reason'],
    'Requests answered with a problem document, by step and its code; keys refused are step="key" at the authority',
  ),
  basa_received_bytes_total: counter(['step'], 'Bytes of request bodies that were not refused, as declared'),
  basa_sent_bytes_total: counter(['step'], 'Bytes of answer bodies; models are step="model" at the server'),
  basa_commit_seconds: histogram(
    [],
    DISK_SECONDS,
    'Commits of transactions that wrote: with SQLite the fsync, with PostgreSQL the COMMIT',
  ),
  basa_database_retries_total: counter([], 'Transactions that PostgreSQL could not do and that were tried again'),
  basa_troubles_total: counter([], 'Faults that are tried again later; the log has one line for each'),
  basa_draining: gauge([], '1 from SIGTERM on, else 0'),
  basa_disk_free_bytes: gauge([], 'Free space where the data folder lies; left out where there is none'),
  basa_disk_size_bytes: gauge([], 'Size of the same file system'),
  basa_event_loop_delay_seconds: gauge(
    ['quantile'],
    'How late timers were since the last scrape; quantile 0.5, 0.99 or 1',
  ),
  process_resident_memory_bytes: gauge([], 'Resident memory'),
  process_heap_bytes: gauge([], 'JavaScript heap in use'),
  process_cpu_seconds_total: counter([], 'Processor time of the process, with its threads'),
  process_start_time_seconds: gauge([], 'When the process started, since 1970'),
} as const;
