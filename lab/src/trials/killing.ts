/** Kills processes with SIGKILL while they work, at planned and at random moments: what the trials of crashes and of authorities share. */
import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RandomStream } from '@basa/learning';
import type { ProcessName, TestProcesses } from '@basa/testkit/processes/test-processes.ts';
import { Fleet, type TrialBundle } from './fleet.ts';
import { gone, isAlive } from './verdict.ts';

interface Death {
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

/**
 * Chooses the next moment at which a process dies: first moments that occur only once, then every known kind of moment, starting with the
 * least tried, with random moments in between.
 */
class Plan {
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

/** Stops waiting if the fleet makes no progress for this time, because other processes are down. */
export const PATIENCE_MS = 20_000;
/** The exit code of a node that cannot reach its database when it starts. */
const NO_DATABASE = 3;

export class Killing {
  readonly basa: TestProcesses;
  readonly fleet: Fleet;
  readonly plan: Plan;
  /** Processes that were started; devices among them end with `end`. */
  readonly running = new Set<ChildProcess>();
  readonly #preloads: readonly string[];
  /** Waits of the fleet are this many times as long. */
  readonly #pace: number;

  private constructor(basa: TestProcesses, bundle: TrialBundle, fleet: Fleet, chance: RandomStream, pace: number) {
    this.basa = basa;
    this.fleet = fleet;
    this.plan = new Plan(chance);
    this.#preloads = [bundle.file('durable-moments')];
    this.#pace = pace;
  }

  static async of(basa: TestProcesses, bundle: TrialBundle, chance: RandomStream, pace = 1): Promise<Killing> {
    return new Killing(basa, bundle, await Fleet.enrolled(basa, bundle), chance, pace);
  }

  /** Waits until the fleet has taken this number of steps, or cannot. */
  async during(steps: number, isOver: () => boolean = () => false): Promise<void> {
    const enough = this.fleet.steps + steps * this.#pace;
    const patience = Date.now() + PATIENCE_MS * this.#pace;
    while (!isOver() && this.fleet.steps < enough && Date.now() < patience) await sleep(5);
  }

  /** Starts a service; a moment at which it dies may come before it listens. A node whose database is down starts again. */
  async startService(name: ProcessName, die: Readonly<Record<string, string>> = {}): Promise<ChildProcess> {
    for (;;) {
      await gone(this.basa.children.get(name));
      const listening = this.basa.start(name, die, this.#preloads);
      const child = this.#listenTo(roleOf(name), this.basa.children.get(name) as ChildProcess);
      const isDown = (): boolean => name.startsWith('node') && child.exitCode === NO_DATABASE;
      await listening.catch((error: unknown) => {
        if (child.signalCode !== 'SIGKILL' && !isDown()) throw error;
      });
      if (!isDown()) return child;
      this.running.delete(child);
    }
  }

  async startDevices(n: number, die: Readonly<Record<string, string>> = {}): Promise<ChildProcess> {
    return this.#listenTo('devices', await this.fleet.start(n, die, this.#preloads));
  }

  #listenTo(role: string, child: ChildProcess): ChildProcess {
    this.running.add(child);
    if (child.stderr !== null)
      createInterface({ input: child.stderr }).on('line', (line) => {
        const [, moment] = /^moment: (.*)$/.exec(line) ?? [];
        if (moment !== undefined) this.plan.learn(role, moment);
      });
    return child;
  }

  /** Waits for the planned moment of death, and kills the process if it does not come. Returns when it died, in words. */
  async death(role: string, child: ChildProcess, { moment, afterSteps }: Death): Promise<string> {
    await this.during(afterSteps, () => !isAlive(child));
    const isItself = !isAlive(child) && moment !== undefined;
    if (isItself) this.plan.died(role, moment);
    await this.kill(role, child);
    return isItself ? moment : 'at a random moment';
  }

  async kill(name: string, child: ChildProcess): Promise<void> {
    child.kill('SIGKILL');
    await gone(child);
    this.running.delete(child);
    if (child.signalCode !== 'SIGKILL') throw new Error(`${name} ended unexpectedly with code ${child.exitCode}`);
  }

  /** The devices end; the services stay. */
  async endDevices(): Promise<void> {
    const services = [...this.basa.children.values()];
    for (const child of [...this.running].filter((one) => !services.includes(one))) {
      child.kill('SIGKILL');
      await gone(child);
    }
  }

  close(): Promise<void> {
    for (const child of this.running) child.kill('SIGKILL');
    return this.basa.close();
  }
}

/** The variables with which a process dies at this moment (`programs/durable-moments.ts`). */
export function dying({ moment, nth }: Death): Readonly<Record<string, string>> {
  return moment === undefined ? {} : { BASA_DIE_AT: moment, BASA_DIE_NTH: String(nth) };
}

export function roleOf(name: ProcessName): 'server' | 'authority' {
  return name.startsWith('authority') ? 'authority' : 'server';
}
