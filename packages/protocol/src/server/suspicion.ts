/**
 * The probability that a device spoils sums. A spoilt sum does not reveal the device, because the masks protect the cheat too. But Bayes'
 * rule finds a device that takes part in spoilt sums more often than others.
 *
 *     spoilt, of A:  p_u <- p_u / (p_u + (1 - p_u) q_u),   q_u = 1 - prod_{v in A, v != u} (1 - p_v)
 *     clean:         p_u <- p_u (1 - r) / (p_u (1 - r) + 1 - p_u)
 *
 * q_u: another device spoilt it. r: the assumed rate at which a cheat cheats, because it may do so only now and then.
 */

/** The record of a device in a task. */
export interface Standing {
  /** p, within the bounds below. */
  readonly suspicion: number;
  /** Spoilt sums without a named cheat that it took part in, since it was last cleared. */
  readonly spoilt: number;
  readonly suspensions: number;
  /** The number of the task's sum at which its suspension ends. */
  readonly suspendedUntil?: number;
  readonly isBanned?: true;
}

/** The verdict on the sum of a buffer. */
export interface JudgedSum {
  /** The users whose updates are in it. */
  readonly users: readonly string[];
  readonly outcome: 'clean' | 'spoilt';
  /** The devices that were shown to have cheated: they explain a spoilt sum, and no other device is suspected for it. */
  readonly named: readonly string[];
}

/** The state of a task when a sum is judged. */
export interface SuspicionScene {
  /** The number of this sum: the number of sums judged before it, plus one. */
  readonly sum: number;
  /** Kmin. */
  readonly minimum: number;
  /** Devices that took part recently and are not suspended, those of this sum included. */
  readonly devices: number;
  /** Devices that are suspended. */
  readonly suspended: number;
}

const PRIOR = 0.01;
/** r. */
const CHEAT_RATE = 0.5;
const MIN_SUSPICION = 1e-4;
const MAX_SUSPICION = 0.999;
const MIN_OTHERS = 1e-4;
/** From here on a device is a suspect: see `maySit`. */
export const SUSPECT = 0.1;
export const STRONG_SUSPECT = 0.5;
const SUSPENDED = 0.95;
/**
 * With fewer spoilt sums no device is suspended. Otherwise a cheat with a good record could use it to have each newcomer suspended
 * immediately.
 */
const SPOILT_TO_SUSPEND = 4;
/**
 * At most one device, or this share of all devices, is suspended at a time, unless a device is known to have cheated. Cheats that keep
 * their own records clean can direct the suspicion at others, but cannot lock out more than this share.
 */
const SUSPENDED_SHARE = 0.1;
const AFTER_SUSPENSION = 0.6;
const FIRST_SUSPENSION = 50;
/** 50 * 2^20 sums are more than a task has. */
const MAX_DOUBLINGS = 20;
/** A device that was in one of this many last sums counts as part of the fleet. */
export const LATELY = 20;

export const NEW_STANDING: Standing = { suspicion: PRIOR, spoilt: 0, suspensions: 0 };

/** The standing at the task's sum of this number: a suspension that is over leaves a strong suspect. */
export function standingAt(standing: Standing, sum: number): Standing {
  const { suspendedUntil, ...rest } = standing;
  if (suspendedUntil === undefined || sum < suspendedUntil) return standing;
  return { ...rest, suspicion: AFTER_SUSPENSION };
}

/** Clears a suspected device by an operator's decision: as if it were new. */
export function cleared({ suspensions }: Standing): Standing {
  return { ...NEW_STANDING, suspensions };
}

export function banned(standing: Standing): Standing {
  return { ...standing, isBanned: true };
}

/** The standings of the members of the sum after it was judged. */
export function judgeStandings(
  standingOf: (user: string) => Standing,
  { users, outcome, named }: JudgedSum,
  scene: SuspicionScene,
): ReadonlyMap<string, Standing> {
  const before = users.map((user) => [user, standingAt(standingOf(user), scene.sum)] as const);
  const isNamed = new Set(named);
  if (outcome === 'clean') return new Map(before.map(([user, standing]) => [user, afterClean(standing)]));
  if (isNamed.size > 0)
    return new Map(
      before.map(([user, standing]) => [
        user,
        isNamed.has(user) ? suspended({ ...standing, suspicion: MAX_SUSPICION }, scene.sum) : standing,
      ]),
    );
  const innocent = before.map(([, { suspicion }]) => 1 - suspicion);
  const product = innocent.reduce((all, one) => all * one, 1);
  let { devices, suspended: out } = scene;
  const maxOut = Math.max(1, Math.floor(SUSPENDED_SHARE * (devices + out)));
  return new Map(
    before.map(([user, standing]) => {
      const others = Math.max(MIN_OTHERS, 1 - product / (1 - standing.suspicion));
      const after = afterSpoilt(standing, others);
      const isGuilty = after.suspicion >= SUSPENDED && after.spoilt >= SPOILT_TO_SUSPEND;
      // Updates that a device had under way when it was suspended do not suspend it again.
      const isFree = after.suspendedUntil === undefined && out < maxOut && devices - 1 > scene.minimum;
      if (!isGuilty || !isFree) return [user, after];
      devices--;
      out++;
      return [user, suspended(after, scene.sum)];
    }),
  );
}

function afterClean(standing: Standing): Standing {
  const p = standing.suspicion * (1 - CHEAT_RATE);
  return { ...standing, suspicion: bounded(p / (p + 1 - standing.suspicion)) };
}

function afterSpoilt(standing: Standing, others: number): Standing {
  const p = standing.suspicion;
  return { ...standing, suspicion: bounded(p / (p + (1 - p) * others)), spoilt: standing.spoilt + 1 };
}

/** Each suspension is twice as long as the one before. */
function suspended(standing: Standing, sum: number): Standing {
  const { suspensions } = standing;
  const sums = FIRST_SUSPENSION * 2 ** Math.min(suspensions, MAX_DOUBLINGS);
  return { ...standing, suspensions: suspensions + 1, suspendedUntil: sum + sums };
}

function bounded(p: number): number {
  return Math.min(MAX_SUSPICION, Math.max(MIN_SUSPICION, p));
}
