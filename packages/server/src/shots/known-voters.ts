/**
 * The authorities that would vote for each upload, as of its last inspection. They are kept for a short time and only in memory, because
 * authorities may change their minds: without them, an upload is inspected again before it enters a batch.
 */
import { toHex } from '@basa/masking';
import { type Ctx, type SaidBy, type UserId, type Verdict, type Voters, votersOf } from '@basa/protocol';
import type { StoredShot } from '../store/shots.ts';

/** The time for which verdicts count. */
const FRESH_MS = 60_000;

interface Known {
  readonly user: string;
  readonly at: number;
  readonly said: SaidBy[];
}

type Hear = (verdicts: readonly (Verdict & SaidBy)[]) => void;

export class KnownVoters {
  readonly #clock: () => number;
  readonly #known = new Map<string, Known>();

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  of(name: Ctx): Voters | undefined {
    const known = this.#known.get(toHex(name));
    return known && votersOf(known.said);
  }

  /** Returns a function that takes the verdicts of a new inspection. Those of earlier ones count no more, even if they come later. */
  inspect(shots: readonly Pick<StoredShot, 'name' | 'upload'>[]): Hear {
    const at = this.#clock();
    const inspected = new Map<string, Known>();
    for (const { name, upload } of shots) inspected.set(toHex(name), { user: toHex(upload.header.user), at, said: [] });
    for (const [name, known] of inspected) this.#known.set(name, known);
    return (verdicts) => {
      for (const { upload, authority, verdict } of verdicts)
        inspected.get(toHex(upload))?.said.push({ authority, verdict });
    };
  }

  forgetOld(): void {
    this.#forget(({ at }) => Math.abs(this.#clock() - at) >= FRESH_MS);
  }

  forgetUsers(users: readonly UserId[]): void {
    const names = new Set(users.map(toHex));
    this.#forget(({ user }) => names.has(user));
  }

  #forget(isOver: (known: Known) => boolean): void {
    for (const [name, known] of this.#known) if (isOver(known)) this.#known.delete(name);
  }
}
