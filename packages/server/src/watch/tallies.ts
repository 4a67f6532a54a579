/** Counts a server's answers since it started: by step, by reason, by version. Nothing is kept about the senders. */
import { LIVE_STEPS, type LiveStep, type LiveStepName, SERVER_PATH } from '@basa/protocol';
import type { Answer } from '@basa/service';

export const STEP_OF_ROUTE: Readonly<Record<string, LiveStepName>> = {
  [`GET ${SERVER_PATH.model(':task', ':version')}`]: 'model',
  [`PUT ${SERVER_PATH.shot(':task', ':upload')}`]: 'upload',
};
const MAX_VERSIONS = 24;
const NOTHING: LiveStep = { answers: 0, ms: 0, received: 0, sent: 0 };

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
