/** The places of one task, and who waits for one: in memory if a server is alone, in the database beside other nodes. */
import { toHex } from '@basa/masking';
import { type TaskId, type UserId, WaitingList } from '@basa/protocol';
import type { PlaceCount, PlaceEnd, PlaceTaken, PlaceWish } from '../store/place-store.ts';
import type { Store } from '../store/store.ts';

/** As `PlaceStore` says. */
export interface UnderWay {
  take(user: UserId, wish: PlaceWish): Promise<PlaceTaken>;
  has(user: UserId): Promise<boolean>;
  end(user: UserId, how: PlaceEnd): Promise<boolean>;
  count(): Promise<PlaceCount>;
}

interface Place {
  readonly endsAt: number;
  readonly version: number;
  readonly isForSeat: boolean;
}

/** Unused places that are remembered, the newest of them. */
const MAX_UNUSED = 10_000;

export function placesInMemory(clock: () => number): UnderWay {
  const living = new Map<string, Place>();
  const unused = new Map<string, Place>();
  const waiting = new WaitingList();
  const leaveUnused = (name: string, place: Place): void => {
    living.delete(name);
    unused.set(name, place);
    const [oldest] = unused.keys();
    if (oldest !== undefined && unused.size > MAX_UNUSED) unused.delete(oldest);
  };
  const lapse = (now: number): number => {
    const over = [...living].filter(([, { endsAt }]) => endsAt <= now);
    for (const [name, place] of over) leaveUnused(name, place);
    return over.length;
  };
  return {
    async take(user, { isForSeat, version, leaseMs, decide }) {
      const now = clock();
      const lapsed = lapse(now);
      const name = toHex(user);
      const mine = living.get(name);
      if (mine !== undefined) return { kind: 'given', leftMs: mine.endsAt - now, underWay: living.size, lapsed };
      const left = unused.get(name);
      const isIdle = left !== undefined && (!isForSeat || left.isForSeat);
      if (isIdle) unused.delete(name);
      const found = { lapsed, ...(isIdle && { idleSince: left.endsAt }) };
      const crowd = { underWay: living.size, ahead: waiting.aheadOf(name, now), waiting: waiting.size };
      const decision = decide(crowd);
      if (decision !== 'place') {
        if (decision.turnMs > 0) waiting.stay(name, now + decision.turnMs, now);
        return { kind: 'none', ...found };
      }
      const leftMs = leaseMs(isIdle);
      living.set(name, { endsAt: now + leftMs, isForSeat, version });
      waiting.leave(name);
      return { kind: 'given', leftMs, underWay: living.size, ...found };
    },
    has: async (user) => (living.get(toHex(user))?.endsAt ?? 0) > clock(),
    async end(user, how) {
      const now = clock();
      lapse(now);
      const name = toHex(user);
      const mine = living.get(name);
      if (how === 'used') {
        living.delete(name);
        unused.delete(name);
        waiting.leave(name);
      } else if (mine !== undefined)
        leaveUnused(name, { ...mine, endsAt: now, isForSeat: how === 'refused' ? false : mine.isForSeat });
      return mine !== undefined;
    },
    async count() {
      const now = clock();
      lapse(now);
      const byVersion = new Map<number, number>();
      for (const { version } of living.values()) byVersion.set(version, (byVersion.get(version) ?? 0) + 1);
      return { underWay: living.size, waiting: waiting.sizeAt(now), byVersion };
    },
  };
}

export function placesInDatabase(store: Store, task: TaskId): UnderWay {
  return {
    take: (user, wish) => store.takePlace(task, user, wish),
    has: (user) => store.hasPlace(task, user),
    end: (user, how) => store.endPlace(task, user, how),
    count: () => store.countPlaces(task),
  };
}
