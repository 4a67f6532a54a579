/** Q1: the first of four authorities answers fastest, with a wrong policy, a wrong time, or a wrong outcome of a buffer. */
import { equalBytes } from '@basa/masking';
import {
  agreedOutcome,
  checkDrawnBuffer,
  councilClock,
  millis,
  type OutcomeOf,
  type TaskPolicy,
  taskIdOf,
} from '@basa/protocol';
import { CLOSE_MS, type Federation, type FederationAuthority, type FederationDevice, OPEN_MS } from '@basa/simulator';
import type { Attack, AttackResult, AttackSetting } from './attack.ts';
import { type Arrival, COUNCIL, councilWorld, inTime, LIAR, signedOutcome, stopping } from './council-scene.ts';

const TEN_YEARS_MS = 10 * 365 * 24 * 3_600_000;

export const Q1: Attack = {
  id: 'Q1',
  schedule:
    'the first of four authorities sends a device a wrong policy; it sends a time ten years in the future; it says that a buffer is open that the three others gave up; it always answers first',
  mutant: 'a device that takes the first answers, and checks them only afterwards',
  stoppedBy: 'the answers of the other three',
  broken: (setting) => lied(setting, 'the first answers'),
  sealed: (setting) => lied(setting, 'the first good answers'),
};

type Takes = 'the first answers' | 'the first good answers';

function lied(setting: AttackSetting, takes: Takes): AttackResult {
  const world = councilWorld(setting);
  return stopping([
    ...(connects(world, takes) ? [] : ['no device connects']),
    ...(isSeated(world, takes) ? [] : ['no device takes a seat']),
    ...(isFreed(world, takes) ? [] : ['no update is freed']),
  ]);
}

/** The liar first, the others one after the other. */
function arrivals<Answer>(answers: readonly Answer[]): readonly Arrival<Answer>[] {
  return answers.map((answer, atMs) => ({ atMs, answer }));
}

function connects({ environment, policy, task }: Federation, takes: Takes): boolean {
  const isPinned = (shown: TaskPolicy): boolean => equalBytes(taskIdOf(environment.tools.suite, shown), task);
  const shown = policy.authorities.map((_, n) => (n === LIAR ? { ...policy, minimum: 2 } : policy));
  const [first] = inTime(arrivals(shown), {
    isGood: (one) => takes === 'the first answers' || isPinned(one),
    isEnough: ({ length }) => length > 0,
    graceMs: 0,
  });
  return first !== undefined && isPinned(first);
}

function isSeated(world: Federation, takes: Takes): boolean {
  const { environment, pins, policy, server } = world;
  const drawn = server.buffer(server.drawBuffer());
  const offsets = policy.authorities.map((_, n) => (n === LIAR ? TEN_YEARS_MS : n));
  const offsetMs = takes === 'the first answers' ? (offsets[0] as number) : councilClock(COUNCIL, offsets).offsetMs;
  const now = millis(world.now + offsetMs);
  return checkDrawnBuffer(environment.tools.suite, pins, drawn, now, drawn.descriptor).kind === 'seated';
}

/** A buffer that never had enough updates: all honest authorities aborted it. */
function isFreed(world: Federation, takes: Takes): boolean {
  const device: FederationDevice = world.device();
  device.contribute();
  const { ctx } = device;
  world.now = millis(world.now + OPEN_MS + CLOSE_MS);
  const answers = world.authorities.map((one, authority): OutcomeOf => ({ authority, outcome: told(one, ctx) }));
  const agreed = (some: readonly OutcomeOf[]) =>
    agreedOutcome(world.environment.tools.suite, world.policy, ctx, some)?.status;
  const taken = inTime(arrivals(answers), {
    isGood: () => true,
    isEnough: (some) => (takes === 'the first answers' ? some.length >= COUNCIL.threshold : agreed(some) !== undefined),
    graceMs: 0,
  });
  return agreed(taken) === 'aborted';
}

function told(one: FederationAuthority, ctx: FederationDevice['ctx']): OutcomeOf['outcome'] {
  const outcome = one.outcome(ctx);
  return one.index === LIAR ? signedOutcome(one.ports, { ...outcome, status: 'open' }) : outcome;
}
