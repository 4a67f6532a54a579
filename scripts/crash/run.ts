/**
 * Server, authority and devices as processes under load, each killed again and again while it works, then looked at from
 * outside. Nothing waits for a time: what is waited for is that the fleet takes steps.
 */
import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomStream } from '@basa/learning';
import { bundleProcesses } from '../processes/bundle.ts';
import type { Role } from '../processes/stage.ts';
import { Stage } from '../processes/stage.ts';
import { Fleet } from './fleet.ts';
import { Plan } from './plan.ts';
import type { Verdict } from './verdict.ts';
import { judge, stuckBuffers } from './verdict.ts';

export interface CrashOptions {
  readonly kills: number;
  readonly seed: number;
  onKill?(line: string): void;
}

export interface CrashReport extends Verdict {
  readonly kills: number;
  /** How often each kind of process died at each kind of durable moment. */
  readonly moments: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

const DEVICE_PROCESSES = 2;
const DEVICES_EACH = 4;
/** More coordinates than a run has updates. */
const PLACES_PER_KILL = 60;
const STALL_MS = 1000;
/** A process whose fleet takes no steps, because others are down, is killed all the same. */
const PATIENCE_MS = 20_000;
const LOOKS = 1500;
const LOOK_MS = 200;

export async function runCrashes({ kills, seed, onKill = () => {} }: CrashOptions): Promise<CrashReport> {
  const bundle = await bundleProcesses({ watched: true });
  const dimension = Math.max(2048, kills * PLACES_PER_KILL);
  const stage = await Stage.open({ bundle, policy: { dimension }, specification: { stallMs: STALL_MS } });
  const running = new Set<ChildProcess>();
  try {
    const chance = randomStream(seed, 'crash');
    const script = bundle.file('devices');
    const options = { stage, script, processes: DEVICE_PROCESSES, devicesEach: DEVICES_EACH, chance };
    const fleet = await Fleet.enrolled(options);
    const plan = new Plan(chance);
    let left = kills;

    /** Starts it, lets it work, and sees it die; after the last kill it stays. */
    const haunt = async (role: string, start: (die: Readonly<Record<string, string>>) => Promise<ChildProcess>) => {
      while (left > 0) {
        left--;
        const { moment, nth, afterSteps } = plan.next(role);
        const die = moment === undefined ? {} : { BASA_DIE_AT: moment, BASA_DIE_NTH: String(nth) };
        const child = await start(die);
        const steps = fleet.steps + afterSteps;
        const patience = Date.now() + PATIENCE_MS;
        while (isAlive(child) && fleet.steps < steps && Date.now() < patience) await sleep(5);
        const diedItself = !isAlive(child);
        child.kill('SIGKILL');
        await gone(child);
        running.delete(child);
        if (child.signalCode !== 'SIGKILL') throw new Error(`the ${role} ended by itself with code ${child.exitCode}`);
        if (diedItself && moment !== undefined) plan.died(role, moment);
        onKill(`${kills - left} ${role}: ${diedItself && moment !== undefined ? moment : 'at a random moment'}`);
      }
      running.add(await start({}));
    };
    const preloads = [bundle.file('durable-moments')];
    const listenTo = (role: string, child: ChildProcess): ChildProcess => {
      running.add(child);
      if (child.stderr !== null)
        createInterface({ input: child.stderr }).on('line', (line) => {
          const [, moment] = /^moment: (.*)$/.exec(line) ?? [];
          if (moment !== undefined) plan.learn(role, moment);
        });
      return child;
    };
    const service = (role: Role) => async (die: Readonly<Record<string, string>>) => {
      await gone(stage.children[role]);
      const listening = stage.start(role, die, preloads);
      const child = listenTo(role, stage.children[role] as ChildProcess);
      // A moment may come before it listens.
      await listening.catch((error: unknown) => {
        if (child.signalCode !== 'SIGKILL') throw error;
      });
      return child;
    };
    const devices = (n: number) => async (die: Readonly<Record<string, string>>) =>
      listenTo('devices', await fleet.start(n, die, preloads));

    for (const role of ['server', 'authority'] as const) await stage.stop(role);
    const all = Array.from({ length: DEVICE_PROCESSES }, (_, n) => haunt('devices', devices(n)));
    await Promise.all([haunt('authority', service('authority')), haunt('server', service('server')), ...all]);

    // The fleet goes on after the last kill.
    const { version = 0 } = await stage.server.task(stage.task);
    while (((await stage.server.task(stage.task)).version ?? 0) <= version) await sleep(LOOK_MS);
    for (const child of [...running].filter((one) => !Object.values(stage.children).includes(one))) {
      child.kill('SIGKILL');
      await gone(child);
    }
    await settle(stage, bundle.file('clock-ahead'));
    const verdict = await judge(stage, fleet.acknowledged);
    const problems = [...verdict.problems, ...fleet.faults];
    return { kills: kills - left, ...verdict, problems, moments: plan.report() };
  } finally {
    for (const child of running) child.kill('SIGKILL');
    await stage.close();
  }
}

/** Every buffer that can be opened is; then both services start again with every deadline behind them. */
async function settle(stage: Stage, clockAhead: string): Promise<void> {
  const { openMs, closeMs, minimum } = stage.policy;
  const isOpenable = async (ctx: string): Promise<boolean> => {
    const buffer = await stage.server.buffer(ctx).catch(() => undefined); // one that the server never learnt of
    if (buffer === undefined) return false;
    const accepted = buffer.slots.filter(({ status }) => status === 'accepted').length;
    return buffer.status !== 'filling' || accepted >= minimum;
  };
  for (let look = 0; look < LOOKS; look++) {
    const waiting = await Promise.all((await stuckBuffers(stage)).map(isOpenable));
    if (!waiting.includes(true)) break;
    await sleep(LOOK_MS);
  }
  for (const role of ['server', 'authority'] as const) await stage.stop(role);
  const ahead = { BASA_AHEAD_MS: String(openMs + closeMs + 1000) };
  for (const role of ['authority', 'server'] as const) await stage.start(role, ahead, [clockAhead]);
  for (let look = 0; look < LOOKS && (await stuckBuffers(stage)).length > 0; look++) await sleep(LOOK_MS);
}

function isAlive(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}

async function gone(child: ChildProcess | undefined): Promise<void> {
  if (child !== undefined && isAlive(child)) await new Promise((resolve) => child.once('exit', resolve));
}
