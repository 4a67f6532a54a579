/** A server's metrics and traces for its operators, updated after each event. */
import { type BasaEvent, SERVER_PATH, type ShotBatch } from '@basa/protocol';
import type { WorkerPool } from '@basa/runtime/node';
import { type Answer, BufferTraces, countAnswers, createMetrics, timed } from '@basa/service';
import type { Asked } from '../authority/authority-http.ts';
import { isEnded } from '../store/batches.ts';
import { EventCounts } from './event-counts.ts';
import { type GaugeSources, serverGauges, taskLabel } from './gauges.ts';
import { STEP_OF_ROUTE } from './tallies.ts';

const STEPS = {
  ...STEP_OF_ROUTE,
  [`HEAD ${SERVER_PATH.shot(':task', ':upload')}`]: 'upload-offset',
  [`GET ${SERVER_PATH.newestModel(':task')}`]: 'newest-model',
  [`GET ${SERVER_PATH.shotFate(':task', ':upload')}`]: 'fate',
};

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
