/**
 * Runs four authorities, of which three are needed, a server and devices as processes. First all four run, and one after the other is
 * killed. Then one is down while other processes are killed. Then two are down: the fleet must stop with a clear message and lose nothing.
 * At the end the result is checked from outside.
 */
import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RandomStream, randomStream } from '@basa/learning';
import { type AuthorityName, type ProcessName, TestProcesses } from '@basa/testkit/processes/test-processes.ts';
import { bundleTrial, type TrialBundle } from '../bundle.ts';
import { Fleet } from '../crash/fleet.ts';
import { Plan } from '../crash/plan.ts';
import { gone, grown, isAlive, settle } from '../crash/settle.ts';
import { judge, type Verdict } from '../crash/verdict.ts';
import { oneShotLines } from '../one-shot.ts';

export interface AuthoritiesOptions {
  readonly kills: number;
  readonly seed: number;
  onLine?(line: string): void;
}

export interface AuthoritiesReport extends Verdict {
  readonly kills: number;
  /** The index of the authority that was down for all of the second and third phase. */
  readonly downForAll: number;
  /** Versions that were made with one authority down, and with two. */
  readonly versionsWithOneDown: number;
  readonly versionsWithTwoDown: number;
  /** The answers to devices while two authorities were down. */
  readonly refusals: readonly string[];
  /** The number of kills at each kind of durable moment. */
  readonly moments: Readonly<Record<string, number>>;
}

const AUTHORITIES = 4;
const THRESHOLD = 3;
const DEVICES_EACH = 4;
/** The share of kills that happen while all four authorities run. */
const FIRST_SHARE = 0.75;
const PLACES_PER_KILL = 60;
const MIN_PLACES = 4096;
const STALL_MS = 1000;
/** Stops waiting if the fleet makes no progress for this time. */
const PATIENCE_MS = 20_000;
const VERSIONS = 3;
const LOOK_MS = 100;

export async function runAuthorities({
  kills,
  seed,
  onLine = () => {},
}: AuthoritiesOptions): Promise<AuthoritiesReport> {
  const bundle = await bundleTrial({ watched: true });
  const basa = await TestProcesses.open({
    bundle,
    authorities: AUTHORITIES,
    policy: {
      dimension: Math.max(MIN_PLACES, kills * PLACES_PER_KILL),
      threshold: THRESHOLD,
      ...oneShotLines({ authorities: AUTHORITIES }),
    },
    specification: { stallMs: STALL_MS },
  });
  const trial = new Trial(basa, bundle, randomStream(seed, 'authorities'), onLine);
  try {
    return await trial.run(kills);
  } finally {
    trial.killDevices();
    await basa.close();
  }
}

class Trial {
  readonly #basa: TestProcesses;
  readonly #bundle: TrialBundle;
  readonly #chance: RandomStream;
  readonly #plan: Plan;
  readonly #devices: ChildProcess[] = [];
  readonly #onLine: (line: string) => void;
  #kills = 0;

  constructor(basa: TestProcesses, bundle: TrialBundle, chance: RandomStream, onLine: (line: string) => void) {
    this.#basa = basa;
    this.#bundle = bundle;
    this.#chance = chance;
    this.#plan = new Plan(chance);
    this.#onLine = onLine;
  }

  async run(kills: number): Promise<AuthoritiesReport> {
    const basa = this.#basa;
    const fleet = await Fleet.enrolled({
      basa,
      script: this.#bundle.file('devices'),
      processes: 2,
      devicesEach: DEVICES_EACH,
    });
    this.#devices.push(await fleet.start(0, {}, []));
    await grown(basa, 1);

    while (this.#kills < kills * FIRST_SHARE) await this.#strike(fleet, this.#anyOf(basa.authorities));
    await grown(basa, VERSIONS);

    const downForAll = Math.floor(this.#chance.unit() * AUTHORITIES);
    const [first, ...others] = this.#beginningWith(downForAll);
    await this.#kill(first, 'stays down');
    const before = await this.#version();
    // These devices enrol while one is down.
    this.#devices.push(await fleet.start(1, {}, []));
    while (this.#kills < kills) await this.#strike(fleet, this.#anyOf([...others, 'server']));
    await grown(basa, VERSIONS);
    const versionsWithOneDown = (await this.#version()) - before;

    const second = this.#anyOf(others);
    const { versions: versionsWithTwoDown, words } = await this.#twoDown(fleet, second);
    await this.#start(second);
    await grown(basa, VERSIONS);
    this.#onLine(`the fleet continues with ${second}`);
    await this.#start(first);
    await grown(basa, VERSIONS);
    this.killDevices();
    await Promise.all(this.#devices.map(gone));
    await settle(basa, fleet.acknowledged, { clockAhead: this.#bundle.file('clock-ahead') });

    const { problems, ...verdict } = await judge(basa, fleet.acknowledged);
    return {
      kills: this.#kills,
      ...verdict,
      downForAll,
      versionsWithOneDown,
      versionsWithTwoDown,
      refusals: [...new Set(words.map((said) => said.replace(/:\d{4,5}\b/g, '')))], // without ports
      moments: this.#plan.report()['authority'] ?? {},
      problems: [
        ...problems,
        ...fleet.faults,
        ...(versionsWithTwoDown === 0 ? [] : ['versions were made with two authorities down']),
        ...(words.length > 0 ? [] : ['nobody was told that two authorities are down']),
      ],
    };
  }

  killDevices(): void {
    for (const child of this.#devices) child.kill('SIGKILL');
  }

  /** Kills the process at a random moment, starts it so that it dies at the planned moment, and then lets it run. */
  async #strike(fleet: Fleet, name: ProcessName): Promise<void> {
    const { moment, nth, afterSteps } = this.#plan.next(name === 'server' ? name : 'authority');
    await this.#during(fleet, Math.floor(this.#chance.unit() * afterSteps));
    await this.#kill(name, 'at a random moment');
    const die = moment === undefined ? {} : { BASA_DIE_AT: moment, BASA_DIE_NTH: String(nth) };
    const child = await this.#start(name, die);
    await this.#during(fleet, afterSteps, () => !isAlive(child));
    const isItself = !isAlive(child) && moment !== undefined;
    if (isItself) this.#plan.died(name === 'server' ? name : 'authority', moment);
    await this.#kill(name, isItself ? moment : 'at a random moment');
    await this.#start(name);
  }

  /** With two down: until every device was put off. */
  async #twoDown(fleet: Fleet, second: AuthorityName): Promise<{ versions: number; words: readonly string[] }> {
    await this.#kill(second, 'down as well');
    await sleep(2 * STALL_MS); // answers that were under way
    const before = await this.#version();
    fleet.putOff.clear();
    const patience = Date.now() + 3 * PATIENCE_MS;
    while (fleet.putOff.size < this.#devices.length * DEVICES_EACH && Date.now() < patience) await sleep(LOOK_MS);
    const words = [...fleet.putOff.values()];
    this.#onLine(`two down: ${fleet.putOff.size} devices were put off, for example: ${words[0]}`);
    return { versions: (await this.#version()) - before, words };
  }

  async #start(name: ProcessName, environment: Readonly<Record<string, string>> = {}): Promise<ChildProcess> {
    const basa = this.#basa;
    const listening = basa.start(name, environment, [this.#bundle.file('durable-moments')]);
    const child = basa.children.get(name) as ChildProcess;
    if (child.stderr !== null)
      createInterface({ input: child.stderr }).on('line', (line) => {
        const [, moment] = /^moment: (.*)$/.exec(line) ?? [];
        if (moment !== undefined) this.#plan.learn(name === 'server' ? name : 'authority', moment);
      });
    // A moment may come before it listens.
    await listening.catch((error: unknown) => {
      if (child.signalCode !== 'SIGKILL') throw error;
    });
    return child;
  }

  async #kill(name: ProcessName, why: string): Promise<void> {
    const child = this.#basa.children.get(name) as ChildProcess;
    child.kill('SIGKILL');
    await gone(child);
    if (child.signalCode !== 'SIGKILL') throw new Error(`${name} ended unexpectedly with code ${child.exitCode}`);
    this.#onLine(`${++this.#kills} ${name}: ${why}`);
  }

  async #during(fleet: Fleet, steps: number, isOver: () => boolean = () => false): Promise<void> {
    const enough = fleet.steps + steps;
    const patience = Date.now() + PATIENCE_MS;
    while (!isOver() && fleet.steps < enough && Date.now() < patience) await sleep(5);
  }

  async #version(): Promise<number> {
    return (await this.#basa.server.task(this.#basa.task)).version ?? 0;
  }

  #anyOf<Name>(names: readonly Name[]): Name {
    return names[Math.floor(this.#chance.unit() * names.length)] as Name;
  }

  /** That one, then the others. */
  #beginningWith(index: number): readonly [AuthorityName, ...AuthorityName[]] {
    const { authorities } = this.#basa;
    return [authorities[index] as AuthorityName, ...authorities.filter((_, n) => n !== index)];
  }
}
