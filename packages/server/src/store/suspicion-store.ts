/** How much the devices of a task are suspected, as a port: the standings of protocol's `suspicion`, durable and counted. */
import {
  type EnteredBuffer,
  type FleetTrust,
  maySit,
  NEW_STANDING,
  STRONG_SUSPECT,
  type Standing,
  SUSPECT,
  type TaskId,
  type UserId,
} from '@basa/protocol';

/** How the sum of a buffer came out: written in the transaction of its end. */
export interface Verdict {
  readonly task: TaskId;
  /** Kmin. */
  readonly minimum: number;
  readonly users: readonly UserId[];
  readonly outcome: 'clean' | 'spoilt';
  /** Those who are shown to have cheated. */
  readonly named: readonly UserId[];
}

export interface TaskSuspicions {
  /** How many sums were judged. */
  readonly sums: number;
  /** Of the devices that took part lately; more than the minimum are not counted. */
  readonly trust: FleetTrust;
  /** When the last sum was judged. */
  readonly lastAt: number;
  /** The mean time from one sum to the next; missing before the second. */
  readonly paceMs?: number;
  /** Suspects and those who are suspended or banned, by their names in hex; everybody else is none of it. */
  readonly suspects: ReadonlyMap<string, Standing>;
}

export interface SuspicionStore {
  suspicions(task: TaskId): Promise<TaskSuspicions>;
  /** Returns what the standing has become. */
  changeStanding(task: TaskId, user: UserId, change: (before: Standing) => Standing): Promise<Standing>;
}

/** Whether the device may sit down beside those who are there, all by their names in hex. */
export function mayEnter(
  { suspects, trust }: TaskSuspicions,
  user: string,
  { users, ...buffer }: Pick<EnteredBuffer, 'ctx' | 'minimum' | 'isLate'> & { readonly users: readonly string[] },
): boolean {
  const suspicionOf = (one: string): number => (suspects.get(one) ?? NEW_STANDING).suspicion;
  const from = (limit: number): number => users.filter((one) => suspicionOf(one) >= limit).length;
  const company = { taken: users.length, suspects: from(SUSPECT), strong: from(STRONG_SUSPECT) };
  return maySit(suspicionOf(user), { ...buffer, ...company }, trust);
}
