/** Checks a policy: its numbers must be consistent and fit their fields, and must not weaken the promises of the task. */
import { modulusSize, type Planned, planQuantizer, toHex } from '@basa/masking';
import { MAX_BATCH, MAX_SLOTS } from './limits.ts';
import { oneShotProblem } from './one-shot/policy.ts';
import { ENGINE, encodePolicy, type TaskPolicy } from './policy.ts';
import { PRIVATE_FROM, privacyProblem } from './privacy.ts';
import { stalenessWeight } from './staleness.ts';
import { statisticsNorm, statisticsWords } from './statistics.ts';

/** Returns a sentence that says why a policy cannot be used, or undefined. H1 of the threat model: a sum that could wrap. */
export function policyProblem(policy: TaskPolicy): string | undefined {
  const { bufferSize, minimum, dimension } = policy;
  if (policy.engine !== ENGINE.unsafeTransparent && !isSealing(policy)) return `engine ${policy.engine} is not known`;
  const largest = policy.engine === ENGINE.oneShot ? MAX_BATCH : MAX_SLOTS;
  if (!(Number.isInteger(bufferSize) && bufferSize >= 2 && bufferSize <= largest)) {
    return `bufferSize must be from 2 to ${largest}, got ${bufferSize}`;
  }
  if (!(Number.isInteger(minimum) && minimum >= 2 && minimum <= bufferSize)) {
    return `minimum must be from 2 to bufferSize (${bufferSize}), got ${minimum}`;
  }
  if (!(Number.isInteger(dimension) && dimension >= 1 && dimension <= 2 ** 31)) {
    return `dimension must be from 1 to 2^31, got ${dimension}`;
  }
  if (policy.uploadLeaseMs <= 0) return 'uploadLeaseMs must be at least a millisecond: no upload arrives in less';
  const unwritable = encodingProblem(policy) ?? nameProblem(policy) ?? councilProblem(policy) ?? modeProblem(policy);
  if (unwritable !== undefined) return unwritable;
  const planned = planPolicy(policy);
  return planned.kind === 'refused'
    ? planned.sentence
    : (privacyProblem(policy) ?? statisticsProblem(policy) ?? stalenessProblem(policy));
}

/** False for an unknown engine, and for the transparent one, which hides nothing: only simulations have it. */
export function isSealing({ engine }: Pick<TaskPolicy, 'engine'>): boolean {
  return engine === ENGINE.oneShot || engine === ENGINE.cpAbe;
}

/** Names are shown on pages, in terminals and in metrics: characters that change how the words around them look are rejected. */
function nameProblem({ name }: TaskPolicy): string | undefined {
  const text = utf8Text(name);
  if (text === undefined) return 'name must be UTF-8';
  const odd = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u.exec(text)?.[0].codePointAt(0);
  if (odd === undefined) return undefined;
  return `name must be one line of letters: U+${odd.toString(16).toUpperCase().padStart(4, '0')} is a control character`;
}

/** Undefined if the bytes are not canonical UTF-8. */
function utf8Text(bytes: Uint8Array): string | undefined {
  try {
    return decodeURIComponent(toHex(bytes).replace(/../g, '%$&'));
  } catch {
    return undefined;
  }
}

function councilProblem(policy: TaskPolicy): string | undefined {
  const { authorities, threshold, engine } = policy;
  const count = authorities.length;
  if (count < 1) return 'a task has at least one authority';
  if (new Set(authorities.map(toHex)).size < count) return 'an authority is named twice';
  if (!(Number.isInteger(threshold) && threshold >= 1 && threshold <= count))
    return `threshold must be from 1 to the number of authorities (${count}), got ${threshold}`;
  return engine !== ENGINE.oneShot && count > 1 ? 'several authorities need the one-shot mode' : undefined;
}

/** The one-shot mode has its own lines; no other mode has them. */
function modeProblem(policy: TaskPolicy): string | undefined {
  const { engine, oneShot, versions } = policy;
  if ((engine === ENGINE.oneShot) !== (oneShot !== undefined))
    return 'oneShot must be set in one-shot mode, and only there';
  if (oneShot === undefined) return undefined;
  if (versions !== 'one')
    return 'versions must be one in one-shot mode: all updates of a batch are trained on the same version';
  if (oneShot.authorityNoise && (policy.privacy === undefined || policy.authorities.length > 1))
    return 'authorityNoise needs noise, and a task with one authority';
  return oneShotProblem(policy, oneShot);
}

/** A statistics task has the noise of a private task, however small its batches are, or says `unsafeExact`. */
function statisticsProblem({ statistics, oneShot, dimension, clip, metrics, privacy }: TaskPolicy): string | undefined {
  if (statistics === undefined) return undefined;
  const { fields, unsafeExact } = statistics;
  if (oneShot === undefined) return 'statistics need the one-shot mode';
  const words = statisticsWords(fields);
  if (dimension !== words) return `the fields have ${words} words, the dimension is ${dimension}`;
  const norm = statisticsNorm(fields);
  if (clip !== norm) return `clip must be ${norm}, the norm of the longest report, got ${clip}`;
  if (metrics.length > 0) return 'a statistics task has no metrics: make them fields';
  if (oneShot.versionMinimum !== undefined) return 'a batch of reports is of one window: leave out versionMinimum';
  if (unsafeExact !== (privacy === undefined))
    return 'a statistics task needs noise, unless it says unsafeExact; it cannot have both';
  if (privacy === undefined || privacy.noiseMultiplier >= PRIVATE_FROM) return undefined;
  return `statistics need noise of at least ${PRIVATE_FROM}, got ${privacy.noiseMultiplier}`;
}

/** The smallest weight of a stale update: a server that names old versions to all but one must not silence them. */
const MIN_WEIGHT = 1 / 4;

function stalenessProblem(policy: TaskPolicy): string | undefined {
  const { bufferSize, maxStaleness, modulus, staleness, versions } = policy;
  if (versions === 'one') {
    if (staleness.kind === 'constant') return undefined;
    return 'staleness must be constant with one version per buffer: all updates of a sum are equally old, and the server weighs the whole sum';
  }
  if (2 * maxStaleness * bufferSize >= modulusSize(modulus)) {
    return `maxStaleness ${maxStaleness} is too large: 2 * maxStaleness * bufferSize must stay below ${modulusSize(modulus)}`;
  }
  const least = stalenessWeight(staleness, maxStaleness);
  if (least >= MIN_WEIGHT) return undefined;
  const fitting = largestStaleness(policy);
  return `an update of staleness ${maxStaleness} would weigh ${least.toPrecision(2)}, less than 1/4: maxStaleness ${fitting} is the largest that fits`;
}

function largestStaleness({ staleness, maxStaleness }: TaskPolicy): number {
  let [fits, tooLarge] = [0, maxStaleness];
  while (tooLarge - fits > 1) {
    const middle = Math.floor((fits + tooLarge) / 2);
    if (stalenessWeight(staleness, middle) >= MIN_WEIGHT) fits = middle;
    else tooLarge = middle;
  }
  return fits;
}

/** Names, times and parameters must fit their fields, so that a logged policy can be read again. */
function encodingProblem(policy: TaskPolicy): string | undefined {
  try {
    encodePolicy(policy);
    return undefined;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return `the policy cannot be written: ${error.message}`;
  }
}

/** K quantised updates fit, by the planner's proof; the count and the weight fit because W is chosen so. */
function planPolicy({ bufferSize, level, clip, modulus }: TaskPolicy): Planned {
  return planQuantizer({ summands: bufferSize, resolution: { level }, clip, modulus });
}
