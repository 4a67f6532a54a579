/** A server's metrics and traces for its operators, and its counts for the event stream. */

import { toHex } from '@basa/masking';
import type { BasaEvent, TaskId } from '@basa/protocol';
import { Live, SERVER_PATH } from '@basa/protocol/http';
import type { Sums } from '@basa/protocol/one-shot';
import type { WorkerPool } from '@basa/runtime/node';
import { type Answer, BatchTraces, countAnswers, createMetrics, timed } from '@basa/service';
import type { Asked } from '../authority/authority-http.ts';
import { isEnded } from '../store/batches.ts';

const STEP_OF_ROUTE: Readonly<Record<string, Live.LiveStepName>> = {
  [`GET ${SERVER_PATH.model(':task', ':version')}`]: 'model',
  [`PUT ${SERVER_PATH.shot(':task', ':upload')}`]: 'upload',
};
const MAX_VERSIONS = 24;
const NOTHING: Live.LiveStep = { answers: 0, ms: 0, received: 0, sent: 0 };

/** Counts a server's answers since it started: by step, by reason, by version. Nothing is kept about the senders. */
export class Tallies {
  readonly #steps = new Map<Live.LiveStepName, Live.LiveStep>();
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

  steps(): Readonly<Record<Live.LiveStepName, Live.LiveStep>> {
    const entries = Live.LIVE_STEPS.map((step) => [step, this.#steps.get(step) ?? NOTHING]);
    return Object.fromEntries(entries) as Record<Live.LiveStepName, Live.LiveStep>;
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

/** The batch or upload that an event is about. */
interface EventAbout {
  readonly task: TaskId;
  /** That it was trained on. */
  readonly version: number;
}

/** Called with each event of the core after it is durable. */
export type OnEvent = (event: BasaEvent, about?: EventAbout) => void;

const ENDS: ReadonlyMap<BasaEvent['kind'], string> = new Map([
  ['batch-included', 'included'],
  ['batch-quarantined', 'quarantined'],
  ['batch-aborted', 'aborted'],
  ['batch-unknown', 'unknown'],
]);

/** A server's metrics and traces for its operators, updated after each event. */
export class ServerWatch {
  readonly metrics = createMetrics('server');
  readonly traces = new BatchTraces('server');
  readonly answered: (answer: Answer) => void = countAnswers(this.metrics, STEPS);
  /** The label of a task. */
  labelOf = (task: TaskId): string => toHex(task).slice(0, 8);
  #isAuthorityUp: boolean | undefined;

  constructor() {
    this.metrics.gauge('basa_authority_up', () =>
      this.#isAuthorityUp === undefined ? [] : [[{}, Number(this.#isAuthorityUp)]],
    );
  }

  /** A batch was read or changed. */
  trace({ ctx, task, rules, status }: Sums.ShotBatch): void {
    if (isEnded(status)) this.traces.close(ctx);
    else this.traces.open({ ctx, task, version: rules.version });
  }

  readonly note: OnEvent = (event, about) => {
    const { metrics } = this;
    if (event.kind === 'authority-fault') {
      const labels = { task: this.labelOf(event.task), authority: String(event.authority) };
      metrics.count('basa_authority_faults_total', { ...labels, subject: event.subject });
    }
    if (about === undefined) return;
    const task = this.labelOf(about.task);
    const outcome = ENDS.get(event.kind);
    if (outcome !== undefined) metrics.count('basa_batches_ended_total', { task, outcome });
    if (event.kind === 'upload-accepted') metrics.count('basa_uploads_accepted_total', { task });
    if (event.kind === 'batch-frozen') metrics.count('basa_batches_frozen_total', { task });
    if (event.kind === 'batch-included')
      metrics.observe('basa_batch_lag_versions', { task }, event.version - 1 - about.version);
  };

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
