/** What a user of an exploration has on disk. */
import { type DeviceRecord, isLedgerRecord, isSessionRecord, type LedgerRecord, type UserRecord } from '@basa/protocol';
import type { BrokenRule } from './cast.ts';
import type { Ending } from './messages.ts';

export interface UserLocal {
  /** The records of its session in each buffer. */
  readonly sessions: readonly (readonly UserRecord[])[];
  /** Which buffers it entered, and where its update was given to. */
  readonly ledger: readonly LedgerRecord[];
  /** How often it forgot something: what it draws afterwards is fresh. */
  readonly forgot: number;
}

export function withRecords(local: UserLocal, buffer: number, records: readonly DeviceRecord[]): UserLocal {
  if (records.length === 0) return local;
  const ofSession = records.filter(isSessionRecord);
  return {
    ...local,
    sessions: local.sessions.map((before, n) => (n === buffer ? [...before, ...ofSession] : before)),
    ledger: [...local.ledger, ...records.filter(isLedgerRecord)],
  };
}

/** How it may lose what it wrote down, in a world that breaks this rule. */
export function forgetful(name: string, local: UserLocal, broken: BrokenRule | undefined): Ending<UserLocal>[] {
  if (local.forgot > 0) return [];
  if (broken === 'user forgets where its update went' && local.ledger.some(isCommitment)) {
    const ledger = local.ledger.filter((entry) => !isCommitment(entry));
    return [{ local: { ...local, ledger, forgot: 1 }, sent: [], words: `${name} forgets where its update went` }];
  }
  if (broken !== 'user forgets its last record') return [];
  return local.sessions.flatMap((records, buffer) => {
    if (records.length < 2) return [];
    const sessions = local.sessions.map((all, n) => (n === buffer ? all.slice(0, -1) : all));
    // What was durable together is lost together.
    const ledger = records.at(-1)?.kind === 'frozen' ? local.ledger.filter((e) => !isCommitment(e)) : local.ledger;
    return [
      {
        local: { ...local, sessions, ledger, forgot: 1 },
        sent: [],
        words: `${name} crashes and has lost "${records.at(-1)?.kind}"`,
      },
    ];
  });
}

function isCommitment({ kind }: LedgerRecord): boolean {
  return kind === 'committed';
}
