/** A device trains only on a model that the authorities of its pinned policy logged. */
import { equalBytes, type Suite } from '@basa/masking';
import { isEndorsed } from '../wire/council.ts';
import { type ModelEntry, modelEntryCodec } from '../wire/model-log.ts';
import { type TaskPolicy, taskIdOf } from '../wire/policy.ts';

/** Values that a client was given out of band and trusts over any server. */
export interface Pins {
  readonly policy: TaskPolicy;
}

/**
 * A user trains only on a model of the authority's log, one hash per version. The version is tau: it comes from the
 * log, never from the server. Undefined if the model is not the logged one.
 */
export function loggedVersion(
  suite: Suite,
  { policy }: Pins,
  entry: ModelEntry,
  modelHash: Uint8Array,
): number | undefined {
  const isLogged =
    isEndorsed(suite, modelEntryCodec, policy, entry) &&
    equalBytes(entry.task, taskIdOf(suite, policy)) &&
    equalBytes(entry.modelHash, modelHash);
  return isLogged ? entry.version : undefined;
}
