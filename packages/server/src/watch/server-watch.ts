/** A server's metrics and traces for its operators, and its counts for the event stream. */

import { toHex } from '@basa/masking';
import {
  type BasaEvent,
  type Ctx,
  LIVE_STEPS,
  type LiveStep,
  type LiveStepName,
  SERVER_PATH,
  type ShotBatch,
  type TaskId,
} from '@basa/protocol';
import type { WorkerPool } from '@basa/runtime/node';
import { type Answer, BufferTraces, countAnswers, createMetrics, type Metrics, timed } from '@basa/service';
import type { Asked } from '../authority/authority-http.ts';
import { isEnded } from '../store/batches.ts';
import { type GaugeSources, serverGauges, taskLabel } from './gauges.ts';

const STEP_OF_ROUTE: Readonly<Record<string, LiveStepName>> = {
  [`GET ${SERVER_PATH.model(':task', ':version')}`]: 'model',
  [`PUT ${SERVER_PATH.shot(':task', ':upload')}`]: 'upload',
};
const MAX_VERSIONS = 24;
const NOTHING: LiveStep = { answers: 0, ms: 0, received: 0, sent: 0 };

/** Counts a server's answers since it started: by step, by reason, by version. Nothing is kept about the senders. */
export class Tallies {
  readonly #steps = new Map<LiveStepName, LiveStep>();
  readonly #refusals = new Map<string, number>();
  readonly #fetches = new Map<string, Map<number, number>>();

  /** Counts the answer to a request. Returns true if a count changed. */
  answered({ method, route, problem, ms, received, sent }: Answer): boolean {
    if (problem !== undefined) countOne(this.#refusals, problem);
    const step = STEP_OF_ROUTE[`${method} ${route}`];
    if (step === undefined) return problem !== undefined;
    const before = this.#steps.get(step) ?? NOTHING;
    this.#steps.set(step, {
      answers: before.answers + 1,
      ms: before.ms + ms,
      received: before.received + received,
      sent: before.sent + sent,
    });
    return true;
  }

  fetched(task: string, version: number): void {
    const counts = this.#fetches.get(task) ?? new Map<number, number>();
    countOne(counts, version);
    if (counts.size > MAX_VERSIONS) counts.delete(Math.min(...counts.keys()));
    this.#fetches.set(task, counts);
  }

  steps(): Readonly<Record<LiveStepName, LiveStep>> {
    const entries = LIVE_STEPS.map((step) => [step, this.#steps.get(step) ?? NOTHING]);
    return Object.fromEntries(entries) as Record<LiveStepName, LiveStep>;
  }

  refusals(): Readonly<Record<string, number>> {
    return largestFirst(this.#refusals);
  }

  fetches(task: string): readonly (readonly [number, number])[] {
    return [...(this.#fetches.get(task) ?? [])].sort(([a], [b]) => a - b);
  }
}

function countOne<Name>(counts: Map<Name, number>, name: Name): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

function largestFirst(counts: ReadonlyMap<string, number>): Readonly<Record<string, number>> {
  return Object.fromEntries([...counts].sort(([, a], [, b]) => b - a));
}

const STEPS = {
  ...STEP_OF_ROUTE,
  [`HEAD ${SERVER_PATH.shot(':task', ':upload')}`]: 'upload-offset',
  [`GET ${SERVER_PATH.newestModel(':task')}`]: 'newest-model',
  [`GET ${SERVER_PATH.shotFate(':task', ':upload')}`]: 'fate',
};

/** A server's metrics and traces for its operators, updated after each event. */
export class ServerWatch {
  readonly metrics = createMetrics('server');
  readonly traces = new BufferTraces('server');
  readonly answered: (answer: Answer) => void = countAnswers(this.metrics, STEPS);
  readonly #counts: EventCounts;
  #sources: GaugeSources | undefined;
  #isAuthorityUp: boolean | undefined;

  constructor() {
    this.#counts = new EventCounts(this.metrics, (name) => {
      const task = this.#sources?.task(name);
      return task === undefined ? name.slice(0, 8) : taskLabel(task);
    });
    this.metrics.gauge('basa_authority_up', () =>
      this.#isAuthorityUp === undefined ? [] : [[{}, Number(this.#isAuthorityUp)]],
    );
  }

  /** From now on gauges read the data in memory here. */
  read(sources: GaugeSources): void {
    this.#sources = sources;
    serverGauges(this.metrics, sources);
  }

  track({ ctx, task, rules, status }: ShotBatch): void {
    const { version } = rules;
    this.met({ ctx, task, version });
    if (isEnded(status)) this.traces.close(ctx);
    else this.traces.open({ ctx, task, version });
  }

  /** Events of this name belong to this task. */
  met(named: Pick<ShotBatch, 'ctx' | 'task'> & { readonly version: number }): void {
    this.#counts.track(named);
  }

  note(event: BasaEvent): void {
    this.#counts.note(event);
  }

  asked({ question, seconds, isUp }: Asked): void {
    this.#isAuthorityUp = isUp;
    this.metrics.observe('basa_authority_seconds', { question }, seconds);
  }

  timedPool<Task extends { readonly kind: string }, Result>(pool: WorkerPool<Task, Result>): WorkerPool<Task, Result> {
    const observe = (work: string) => (seconds: number) => this.metrics.observe('basa_work_seconds', { work }, seconds);
    return {
      size: pool.size,
      run: (task) => timed(observe(task.kind), () => pool.run(task)),
      close: () => pool.close(),
    };
  }

  /** Times a commit of a blob. */
  blobCommit<Result>(commit: () => Promise<Result>): Promise<Result> {
    return timed((seconds) => this.metrics.observe('basa_blob_commit_seconds', {}, seconds), commit);
  }
}

interface Known {
  readonly task: string;
  readonly version: number;
}

const ENDS: ReadonlyMap<BasaEvent['kind'], string> = new Map([
  ['buffer-included', 'included'],
  ['buffer-quarantined', 'quarantined'],
  ['buffer-aborted', 'aborted'],
  ['buffer-unknown', 'unknown'],
]);
/** Events come shortly after their buffer was tracked: older ones may be forgotten. */
const MAX_BUFFERS = 10_000;

/** Counts the events of the core by task, after they are durable, in memory. */
export class EventCounts {
  readonly #metrics: Metrics;
  readonly #labelOf: (task: string) => string;
  readonly #buffers = new Map<string, Known>();

  /** `labelOf` returns the label of a task by its name in hex. */
  constructor(metrics: Metrics, labelOf: (task: string) => string) {
    this.#metrics = metrics;
    this.#labelOf = labelOf;
  }

  track({ ctx, task, version }: { readonly ctx: Ctx; readonly task: TaskId; readonly version: number }): void {
    const name = toHex(ctx);
    if (this.#buffers.has(name)) return;
    this.#buffers.set(name, { task: toHex(task), version });
    const [oldest] = this.#buffers.keys();
    if (oldest !== undefined && this.#buffers.size > MAX_BUFFERS) this.#buffers.delete(oldest);
  }

  note(event: BasaEvent): void {
    const metrics = this.#metrics;
    const ended = ENDS.get(event.kind);
    if (ended !== undefined && 'ctx' in event && event.ctx !== undefined)
      metrics.count('basa_buffers_ended_total', { ...this.#task(event.ctx), outcome: ended });
    if (event.kind === 'upload-accepted') metrics.count('basa_uploads_accepted_total', this.#task(event.ctx));
    if (event.kind === 'buffer-frozen') metrics.count('basa_buffers_frozen_total', this.#task(event.ctx));
    if (event.kind === 'authority-fault') {
      const labels = { task: this.#labelOf(toHex(event.task)), authority: String(event.authority) };
      metrics.count('basa_authority_faults_total', { ...labels, subject: event.subject });
    }
    if (event.kind === 'buffer-included') this.#lagged(event.ctx, event.version);
  }

  #lagged(ctx: Ctx, version: number): void {
    const known = this.#buffers.get(toHex(ctx));
    if (known !== undefined)
      this.#metrics.observe('basa_buffer_lag_versions', this.#task(ctx), version - 1 - known.version);
  }

  #task(ctx: Ctx): { readonly task: string } {
    const known = this.#buffers.get(toHex(ctx));
    return { task: known === undefined ? 'unknown' : this.#labelOf(known.task) };
  }
}
