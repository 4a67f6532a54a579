/** The ways a step of the core may end: answered, or dead after any of its records. */

import { isRefused, type Refused } from '@basa/protocol';
import { canonical } from './canonical.ts';
import { type Ending, type Message, RestoreError } from './messages.ts';

interface Step<Local, Entry> {
  readonly who: string;
  /** What reached it or what it decided to do. */
  readonly cause: string;
  readonly records: readonly Entry[];
  readonly answer: object;
  readonly sent: readonly Message[];
  /** What is on disk after the first n records. */
  after(records: readonly Entry[]): Local;
  readonly crashes: boolean | undefined;
  /** A broken rule: the answer leaves, the record does not follow. */
  readonly answersFirst?: boolean;
}

export function endingsOf<Local, Entry extends { readonly kind: string }>(step: Step<Local, Entry>): Ending<Local>[] {
  const { who, cause, records, answer, sent, after, crashes, answersFirst } = step;
  const isNo = isRefused(answer);
  if (isNo && records.length === 0) {
    return [{ local: after([]), sent: [], words: `${cause}; ${who} refuses: ${(answer as Refused).reason}` }];
  }
  const writes = (entries: readonly Entry[]): string =>
    entries.length === 0 ? 'writes nothing' : `writes ${entries.map(({ kind }) => `"${kind}"`).join(' and ')}`;
  const says = sent.length === 0 ? '' : ` and sends ${sent.map(({ kind }) => kind).join(', ')}`;
  const endings: Ending<Local>[] = [
    { local: after(records), sent, words: `${cause}; ${who} ${writes(records)}${says}` },
  ];
  if (crashes) {
    for (let n = 1; n <= records.length; n++) {
      const kept = records.slice(0, n);
      endings.push({ local: after(kept), sent: [], words: `${cause}; ${who} ${writes(kept)} and crashes` });
    }
  }
  if (answersFirst && records.length > 0 && sent.length > 0) {
    endings.push({
      local: after([]),
      sent,
      words: `${cause}; ${who}${says.slice(4)} first, and crashes before it writes`,
    });
  }
  return endings;
}

/** restore(records) is the live state, after every step. */
export function holdToRecords(who: string, live: unknown, restored: unknown): void {
  if (canonical(live) !== canonical(restored)) {
    throw new RestoreError(`${who} restored from its records is not what it was`);
  }
}
