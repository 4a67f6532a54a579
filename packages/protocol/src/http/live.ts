/** The public view of a running task: counts and times, and nothing about its participants. */

import type { AdmissionView } from '../one-shot/admission.ts';
import type { SumState } from '../one-shot/sums.ts';
import type { WindowResult } from '../wire/statistics-results.ts';
import type { Loss } from '../wire/training.ts';

export interface LiveBatch {
  /** While a batch fills, this is a temporary name, because the final name depends on the complete list. */
  readonly ctx: string;
  readonly status: 'filling' | SumState['status'];
  /** The version that its updates were trained on. */
  readonly version: number;
  readonly bufferSize: number;
  readonly minimum: number;
  /** Updates that are in it. */
  readonly accepted: number;
}

/**
 * The quality of a version on the server's test set; the loss of the task determines the score. Larger is better, and 1
 * is the best.
 */
export interface Scores {
  /** For classes: the share of examples that are classified correctly. */
  readonly accuracy?: number;
  /** For numbers: the share of their variance that the model explains. */
  readonly r2?: number;
}

/** The score of the versions of a task, by its loss; the server does not evaluate a task with its own loss. */
export const SCORE_OF_LOSS: Readonly<Record<Loss, keyof Scores>> = {
  own: 'accuracy',
  softmaxCrossEntropy: 'accuracy',
  binaryCrossEntropy: 'accuracy',
  mse: 'r2',
};

export const SCORES = ['accuracy', 'r2'] as const satisfies readonly (keyof Scores)[];

/** The quality of a version by the operator's own measure, for a model that the server cannot evaluate. */
export interface OperatorScore {
  /** The operator's word for it. */
  readonly name: string;
  readonly score: number;
  readonly loss?: number;
}

/** Every score of a version. */
export interface VersionScores extends Scores {
  readonly evaluation?: OperatorScore;
}

/** Returns only the scores that exist, and nothing else of the object. */
export function scoresIn(scores: VersionScores): VersionScores {
  const { evaluation } = scores;
  const own = SCORES.flatMap((name) => (scores[name] === undefined ? [] : [[name, scores[name]]]));
  return { ...Object.fromEntries(own), ...(evaluation !== undefined && { evaluation }) };
}

/** Returns the score of a version: that of the server's test set, if there is one. */
export function shownScore(scores: VersionScores): { readonly name: string; readonly value: number } | undefined {
  for (const name of SCORES) {
    const value = scores[name];
    if (value !== undefined) return { name, value };
  }
  const { evaluation } = scores;
  return evaluation && { name: evaluation.name, value: evaluation.score };
}

export interface LiveVersion extends VersionScores {
  readonly version: number;
  readonly at: number;
  readonly accepted: number;
  readonly dropped: number;
  /** The mean age of its updates in versions when they were applied. */
  readonly meanAge?: number;
  /** Means of the task's metrics over its devices. */
  readonly metrics?: Readonly<Record<string, number>>;
}

/** The results of the requests of one step. */
export interface LiveStep {
  readonly answers: number;
  readonly ms: number;
  readonly received: number;
  readonly sent: number;
}

export const LIVE_STEPS = ['model', 'upload'] as const;
export type LiveStepName = (typeof LIVE_STEPS)[number];

/** One message of the event stream. Counts belong to this process: they start again with it. */
export interface LiveState {
  /** The server's clock. */
  readonly at: number;
  readonly startedAt: number;
  readonly task: string;
  readonly name: string;
  readonly mode: string;
  readonly state: string;
  readonly why?: string;
  /** The end of the task, as its operator specified it. */
  readonly stop: Scores & { readonly version?: number; readonly afterMs?: number };
  /** The target score; reaching it ends nothing. */
  readonly target?: number;
  /** Versions that this stream has not sent yet, or has sent without their score. */
  readonly versions: readonly LiveVersion[];
  /** The last windows of a statistics task. */
  readonly windows?: readonly WindowResult[];
  /** Batches that have not ended, then the last ended ones. */
  readonly batches: readonly LiveBatch[];
  readonly admission: AdmissionView;
  readonly steps: Readonly<Record<LiveStepName, LiveStep>>;
  readonly refusals: Readonly<Record<string, number>>;
  /** The number of fetches of each of the last versions. */
  readonly fetches: readonly (readonly [version: number, count: number])[];
}

/** A page's settings for the services it was served from. */
export interface PageSettings {
  /** The addresses of the authorities, comma-separated. */
  readonly authority: string;
  /** Shares of the demo data: addresses below the server's own. */
  readonly shares: readonly string[];
  /** True if a page may ask for an enrolment token. */
  readonly handsOutTokens: boolean;
  /** The OpenID provider at which operators sign in, and what it knows this page and its server as. */
  readonly signIn?: Readonly<Record<'issuer' | 'clientId' | 'audience' | 'scope', string>>;
}

/** Updates for the next version that wait for a sum, and the fewest that can be summed. */
export interface Gathering {
  readonly have: number;
  readonly least: number;
  /** The next version. */
  readonly version: number;
}

/** `7 of at least 8 updates for version 12; 1 more device needed`. */
export function gatheringText({ have, least, version }: Gathering): string {
  const text = `${have} of at least ${least} updates for version ${version}`;
  const missing = least - have;
  return missing > 0 ? `${text}; ${missing} more ${missing === 1 ? 'device' : 'devices'} needed` : text;
}
