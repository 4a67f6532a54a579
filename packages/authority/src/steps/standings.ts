/** The authority's statements to devices in the one-shot mode, signed again when the log has moved or a second has passed. */
import { toHex } from '@basa/masking';
import { isRefused, type Refused, standingCodec, type TaskId } from '@basa/protocol';
import { openEpochIfDue, type ShotEpochTools } from './shot-epochs.ts';

const FRESH_MS = 1000;

interface Signed {
  readonly bytes: Uint8Array;
  readonly sequence: number;
  readonly at: number;
}

export class SignedStandings {
  readonly #tools: ShotEpochTools;
  readonly #clock: () => number;
  readonly #signed = new Map<string, Signed>();

  constructor(tools: ShotEpochTools, clock: () => number) {
    this.#tools = tools;
    this.#clock = clock;
  }

  /** Encoded. */
  async of(task: TaskId): Promise<Uint8Array | Refused> {
    const { authority } = this.#tools;
    const kept = this.#signed.get(toHex(task));
    const at = this.#clock();
    const isFresh = kept !== undefined && kept.sequence === authority.sequence && Math.abs(at - kept.at) < FRESH_MS;
    if (isFresh) return kept.bytes;
    await openEpochIfDue(this.#tools, task);
    const standing = await authority.look((core, now) => core.standing(task, now));
    if (isRefused(standing)) return standing;
    const bytes = standingCodec.encode(standing);
    this.#signed.set(toHex(task), { bytes, sequence: authority.sequence, at });
    return bytes;
  }
}
