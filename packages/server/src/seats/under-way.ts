/** Devices with a place and no slot yet: in memory where a server is alone, in the database beside other nodes. */
import { toHex } from '@basa/masking';
import type { TaskId, UserId } from '@basa/protocol';
import type { SharedPlace } from '../store/node-store.ts';
import type { Store } from '../store/store.ts';

export interface UnderWay {
  /**
   * Gives a place for `forMs` if `isFree` agrees to the number of devices under way. A living place is given again.
   * `lapsed` counts the places that ended unused meanwhile.
   */
  take(
    user: UserId,
    forMs: number,
    isFree: (underWay: number) => boolean,
  ): Promise<SharedPlace & { readonly lapsed: number }>;
  has(user: UserId): Promise<boolean>;
  /** Returns whether there was one. */
  end(user: UserId): Promise<boolean>;
  count(): Promise<number>;
}

export function placesInMemory(clock: () => number): UnderWay {
  const places = new Map<string, number>();
  const lapse = (now: number): number => {
    const over = [...places].filter(([, endsAt]) => endsAt <= now);
    for (const [user] of over) places.delete(user);
    return over.length;
  };
  return {
    async take(user, forMs, isFree) {
      const now = clock();
      const lapsed = lapse(now);
      const name = toHex(user);
      const known = places.get(name);
      if (known === undefined && !isFree(places.size)) return { kind: 'none', lapsed };
      const endsAt = known ?? now + forMs;
      places.set(name, endsAt);
      return { kind: 'given', leftMs: endsAt - now, underWay: places.size, lapsed };
    },
    has: async (user) => (places.get(toHex(user)) ?? 0) > clock(),
    end: async (user) => places.delete(toHex(user)),
    async count() {
      lapse(clock());
      return places.size;
    },
  };
}

export function placesInDatabase(store: Store, task: TaskId): UnderWay {
  return {
    take: (user, forMs, isFree) => store.takePlace(task, user, Math.round(forMs), isFree),
    has: (user) => store.hasPlace(task, user),
    end: (user) => store.endPlace(task, user),
    count: () => store.countPlaces(task),
  };
}
