/** The authority's statements to devices in the one-shot mode, signed again when the log has moved or a second has passed. */
import { toHex } from '@basa/masking';
import { type Epoch, isRefused, newestEpoch, type Refused, refused, standingCodec } from '@basa/protocol';
import type { KnownTask } from '../log/directory.ts';
import { openEpochIfDue, type ShotEpochTools } from './shot-epochs.ts';

const FRESH_MS = 1000;

interface Signed {
  readonly bytes: Uint8Array;
  readonly sequence: number;
  readonly epoch: Epoch;
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
  async of(known: KnownTask): Promise<Uint8Array | Refused> {
    const { authority, units } = this.#tools;
    const { task } = known;
    const kept = this.#signed.get(toHex(task));
    const at = this.#clock();
    await openEpochIfDue(this.#tools, known);
    const epoch = newestEpoch(units.of(task));
    const isSame = kept !== undefined && kept.sequence === authority.sequence && kept.epoch === epoch;
    if (isSame && Math.abs(at - kept.at) < FRESH_MS) return kept.bytes;
    if (epoch === undefined) return refused('epoch-over');
    const standing = await authority.look((core, now) => core.standing(epoch, now));
    if (isRefused(standing)) return standing;
    const bytes = standingCodec.encode(standing);
    this.#signed.set(toHex(task), { bytes, sequence: authority.sequence, epoch, at });
    return bytes;
  }
}
