/** What a server shows of a task while it runs: counts and times, and nothing of who took part. */

import type { AdmissionView } from '../admission/admission.ts';
import type { SumState } from '../server/sum-state.ts';
import type { Loss } from '../wire/training.ts';

export interface LiveSlot {
  readonly slot: number;
  readonly status: 'assigned' | 'accepted' | 'dropped';
  /** When its lease ends. */
  readonly deadline: number;
}

export interface LiveBuffer {
  /** Not yet the name of a batch while it fills: its list is not fixed before it is full. */
  readonly ctx: string;
  readonly status: SumState['status'];
  /** The version it was drawn for, or that the updates of a batch were trained on. */
  readonly version: number;
  readonly bufferSize: number;
  readonly minimum: number;
  /** Updates that are in it. */
  readonly accepted: number;
  readonly expiry: number;
  /** None in a batch. */
  readonly slots: readonly LiveSlot[];
}

/** How good a version is on the server's test set; the loss of the task says by which score. Larger is better, and 1 is the best. */
export interface Scores {
  /** Of classes: the share of examples that are told right. */
  readonly accuracy?: number;
  /** Of numbers: the share of their variance that the model explains. */
  readonly r2?: number;
}

/** The score that the server gives the versions of a task, by the loss of the task; it evaluates no task whose loss is its own. */
export const SCORE_OF_LOSS: Readonly<Record<Loss, keyof Scores>> = {
  own: 'accuracy',
  softmaxCrossEntropy: 'accuracy',
  binaryCrossEntropy: 'accuracy',
  mse: 'r2',
};

export const SCORES = ['accuracy', 'r2'] as const satisfies readonly (keyof Scores)[];

/** Those that are there, and nothing else of the object. */
export function scoresIn(scores: Scores): Scores {
  return Object.fromEntries(SCORES.flatMap((name) => (scores[name] === undefined ? [] : [[name, scores[name]]])));
}

/** The one that a version was given. */
export function shownScore(scores: Scores): { readonly name: keyof Scores; readonly value: number } | undefined {
  for (const name of SCORES) {
    const value = scores[name];
    if (value !== undefined) return { name, value };
  }
  return undefined;
}

export interface LiveVersion extends Scores {
  readonly version: number;
  readonly at: number;
  readonly accepted: number;
  readonly dropped: number;
  /** How old its updates were on the average, in versions, when they were applied. */
  readonly meanAge?: number;
  /** Means of the task's metrics over its devices. */
  readonly metrics?: Readonly<Record<string, number>>;
}

/** What the requests of one step came to. */
export interface LiveStep {
  readonly answers: number;
  readonly ms: number;
  readonly received: number;
  readonly sent: number;
}

export const LIVE_STEPS = ['model', 'seat', 'deposit', 'upload'] as const;
export type LiveStepName = (typeof LIVE_STEPS)[number];

/** One message of the event stream. Counts are of this process: they begin anew with it. */
export interface LiveState {
  /** The server's clock. */
  readonly at: number;
  readonly startedAt: number;
  readonly task: string;
  readonly name: string;
  readonly mode: string;
  readonly state: string;
  readonly why?: string;
  /** When the task ends, as its operator wrote it down. */
  readonly stop: Scores & { readonly version?: number; readonly afterMs?: number };
  /** The score that is aimed at; reaching it ends nothing. */
  readonly target?: number;
  /** Versions that this stream has not told yet, or not with their score. */
  readonly versions: readonly LiveVersion[];
  /** Those that have not ended, then the last ones that have. */
  readonly buffers: readonly LiveBuffer[];
  readonly admission: AdmissionView;
  readonly steps: Readonly<Record<LiveStepName, LiveStep>>;
  readonly refusals: Readonly<Record<string, number>>;
  /** Slots that came to nothing: `lease-over`, `void-edge`, `left-out`. */
  readonly drops: Readonly<Record<string, number>>;
  /** How often each of the last versions was fetched. */
  readonly fetches: readonly (readonly [version: number, count: number])[];
}

/** What a page needs to know of the services it was served from. */
export interface PageSettings {
  /** The addresses of the authorities, with commas between them. */
  readonly authority: string;
  /** Shares of the demo data: addresses below the server's own. */
  readonly shares: readonly string[];
  /** Whether a page may ask for an enrolment token. */
  readonly handsOutTokens: boolean;
  /** Whether only operators may watch. */
  readonly needsLogin: boolean;
}
