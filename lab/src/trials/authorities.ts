/**
 * Runs four authorities, of which three are needed, a server and devices as processes. First all four run, and one after the other is
 * killed. Then one is down while other processes are killed. Then two are down: the fleet must stop with a clear message and lose nothing.
 * At the end the result is checked from outside.
 */
import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RandomStream, randomStream } from '@basa/learning';
import { type AuthorityName, type ProcessName, TestProcesses } from '@basa/testkit/processes/test-processes.ts';
import { bundleTrial, DEVICES_EACH, oneShotLines } from './fleet.ts';
import { dying, Killing, PATIENCE_MS, roleOf } from './killing.ts';
import { grown, judge, settle, type Verdict } from './verdict.ts';

interface AuthoritiesOptions {
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
/** The share of kills that happen while all four authorities run. */
const FIRST_SHARE = 0.75;
const PLACES_PER_KILL = 60;
const MIN_PLACES = 4096;
const STALL_MS = 1000;
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
      ...oneShotLines(1, AUTHORITIES),
    },
    specification: { stallMs: STALL_MS },
  });
  const chance = randomStream(seed, 'authorities');
  const killing = await Killing.of(basa, bundle, chance);
  try {
    return await new Trial(killing, chance, onLine).run(kills, bundle.file('clock-ahead'));
  } finally {
    await killing.close();
  }
}

class Trial {
  readonly #killing: Killing;
  readonly #chance: RandomStream;
  readonly #onLine: (line: string) => void;
  #kills = 0;

  constructor(killing: Killing, chance: RandomStream, onLine: (line: string) => void) {
    this.#killing = killing;
    this.#chance = chance;
    this.#onLine = onLine;
  }

  async run(kills: number, clockAhead: string): Promise<AuthoritiesReport> {
    const { basa, fleet, plan } = this.#killing;
    await this.#killing.startDevices(0);
    await grown(basa, 1);

    while (this.#kills < kills * FIRST_SHARE) await this.#strike(this.#anyOf(basa.authorities));
    await grown(basa, VERSIONS);

    const first = this.#anyOf(basa.authorities);
    const others = basa.authorities.filter((name) => name !== first);
    await this.#kill(first, 'stays down');
    const before = await this.#version();
    // These devices enrol while one is down.
    await this.#killing.startDevices(1);
    while (this.#kills < kills) await this.#strike(this.#anyOf([...others, 'server']));
    await grown(basa, VERSIONS);
    const versionsWithOneDown = (await this.#version()) - before;

    const second = this.#anyOf(others);
    const { versions: versionsWithTwoDown, words } = await this.#twoDown(second);
    for (const name of [second, first]) {
      await this.#killing.startService(name);
      await grown(basa, VERSIONS);
      this.#onLine(`the fleet continues with ${name}`);
    }
    await this.#killing.endDevices();
    await settle(basa, fleet.acknowledged, { clockAhead });

    const { problems, ...verdict } = await judge(basa, fleet.acknowledged);
    return {
      kills: this.#kills,
      ...verdict,
      downForAll: basa.authorities.indexOf(first),
      versionsWithOneDown,
      versionsWithTwoDown,
      refusals: [...new Set(words.map((said) => said.replace(/:\d{4,5}\b/g, '')))], // without ports
      moments: plan.report()['authority'] ?? {},
      problems: [
        ...problems,
        ...fleet.faults,
        ...(versionsWithTwoDown === 0 ? [] : ['versions were made with two authorities down']),
        ...(words.length > 0 ? [] : ['nobody was told that two authorities are down']),
      ],
    };
  }

  /** Kills the process at a random moment, starts it so that it dies at the planned moment, and then lets it run. */
  async #strike(name: ProcessName): Promise<void> {
    const killing = this.#killing;
    const death = killing.plan.next(roleOf(name));
    await killing.during(Math.floor(this.#chance.unit() * death.afterSteps));
    await this.#kill(name, 'at a random moment');
    const child = await killing.startService(name, dying(death));
    this.#onLine(`${++this.#kills} ${name}: ${await killing.death(roleOf(name), child, death)}`);
    await killing.startService(name);
  }

  /** With two down: until every device was put off. */
  async #twoDown(second: AuthorityName): Promise<{ versions: number; words: readonly string[] }> {
    const { putOff } = this.#killing.fleet;
    await this.#kill(second, 'down as well');
    await sleep(2 * STALL_MS); // answers that were under way
    const before = await this.#version();
    putOff.clear();
    const patience = Date.now() + 3 * PATIENCE_MS;
    while (putOff.size < 2 * DEVICES_EACH && Date.now() < patience) await sleep(LOOK_MS);
    const words = [...putOff.values()];
    this.#onLine(`two down: ${putOff.size} devices were put off, for example: ${words[0]}`);
    return { versions: (await this.#version()) - before, words };
  }

  async #kill(name: ProcessName, why: string): Promise<void> {
    await this.#killing.kill(name, this.#killing.basa.children.get(name) as ChildProcess);
    this.#onLine(`${++this.#kills} ${name}: ${why}`);
  }

  async #version(): Promise<number> {
    const { server, task } = this.#killing.basa;
    return (await server.task(task)).version ?? 0;
  }

  #anyOf<Name>(names: readonly Name[]): Name {
    return names[Math.floor(this.#chance.unit() * names.length)] as Name;
  }
}
