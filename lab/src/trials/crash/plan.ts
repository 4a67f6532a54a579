/**
 * Chooses the next moment at which a process dies: first moments that occur only once, then every known kind of moment, starting with the
 * least tried, with random moments in between.
 */
import type { RandomStream } from '@basa/learning';

export interface Death {
  /** Undefined: at a random moment, after this number of steps of the fleet. */
  readonly moment: string | undefined;
  readonly nth: number;
  readonly afterSteps: number;
}

/** Moments that happen once for a folder: tried before it is over, in this order. */
const FIRST: Readonly<Record<string, readonly string[]>> = {
  devices: ['sync identity.key.new', 'rename identity.key', 'sync journal'],
  authority: ['commit records+tokens', 'commit epochs+records'],
};
const RANDOM_SHARE = 0.25;
const MAX_STEPS = 40;

export class Plan {
  readonly #chance: RandomStream;
  /** Deaths at each moment, by the role of the process. */
  readonly #deaths = new Map<string, Map<string, number>>();
  /** The number of times that each was aimed at: some come once in a life, and must not be waited for again and again. */
  readonly #tries = new Map<string, number>();

  constructor(chance: RandomStream) {
    this.#chance = chance;
  }

  /** A process of this role has passed this moment. */
  learn(role: string, moment: string): void {
    const moments = this.#deaths.get(role) ?? new Map<string, number>();
    this.#deaths.set(role, moments);
    if (!moments.has(moment)) moments.set(moment, 0);
  }

  next(role: string): Death {
    const afterSteps = Math.floor(this.#chance.unit() * MAX_STEPS);
    const nth = this.#chance.unit() < 0.7 ? 1 : 2;
    const tries = (moment: string): number => this.#tries.get(`${role} ${moment}`) ?? 0;
    const first = FIRST[role]?.flatMap((what) => [`before ${what}`, `after ${what}`]).find((one) => tries(one) === 0);
    if (first !== undefined) return this.#aimAt(role, first, { nth: 1, afterSteps });
    const moments = [...(this.#deaths.get(role)?.keys() ?? [])].sort((a, b) => tries(a) - tries(b));
    if (moments.length === 0 || this.#chance.unit() < RANDOM_SHARE) return { moment: undefined, nth, afterSteps };
    const rarest = moments.filter((moment) => tries(moment) === tries(moments[0] as string));
    const moment = rarest[Math.floor(this.#chance.unit() * rarest.length)] as string;
    return this.#aimAt(role, moment, { nth, afterSteps });
  }

  /** If the chosen moment does not come soon, the process dies at a random moment. */
  #aimAt(role: string, moment: string, { nth, afterSteps }: Pick<Death, 'nth' | 'afterSteps'>): Death {
    const name = `${role} ${moment}`;
    this.#tries.set(name, (this.#tries.get(name) ?? 0) + 1);
    return { moment, nth, afterSteps: afterSteps + 2 * MAX_STEPS };
  }

  died(role: string, moment: string): void {
    const moments = this.#deaths.get(role);
    moments?.set(moment, (moments.get(moment) ?? 0) + 1);
  }

  /** Deaths by role and moment. */
  report(): Readonly<Record<string, Readonly<Record<string, number>>>> {
    return Object.fromEntries([...this.#deaths].map(([role, moments]) => [role, Object.fromEntries(moments)]));
  }
}
