/** The ways a step may end: answered, or crashed after any of its records. A party's state is rebuilt only from its records. */
import { isRefused, type Refused } from '@basa/protocol';
import { Crash, type Federation } from '@basa/simulator';
import { canonical } from './canonical.ts';
import { type Ending, type Message, RestoreError } from './messages.ts';

/** A party of the federation, as an exploration handles it. */
export interface Party<Local> {
  readonly name: string;
  /** Starts it from its disk. */
  load(local: Local): void;
  /** The records that it has written. */
  save(): Local;
  /** Kinds of the records that it wrote since it was loaded. */
  written(): readonly string[];
  /** Its state in memory. */
  live(): unknown;
}

export interface Said {
  readonly answer: object;
  readonly sent: readonly Message[];
}

interface Step<Local> {
  readonly federation: Federation;
  readonly party: Party<Local>;
  readonly local: Local;
  /** The message that reached it, or its own decision. */
  readonly cause: string;
  run(): Said;
  readonly crashes: boolean | undefined;
  /** A broken rule: the answer leaves, the record does not follow. */
  readonly answersFirst?: boolean;
}

export function endingsOf<Local>({
  federation,
  party,
  local,
  cause,
  run,
  crashes,
  answersFirst,
}: Step<Local>): readonly Ending<Local>[] {
  party.load(local);
  const { answer, sent } = run();
  const [written, after] = [party.written(), party.save()];
  if (isRefused(answer) && written.length === 0)
    return [{ local, sent: [], words: `${cause}; ${party.name} refuses: ${(answer as Refused).reason}` }];
  holdToRecords(party, after);
  const says = sent.length === 0 ? '' : ` and sends ${sent.map(({ kind }) => kind).join(', ')}`;
  const endings: Ending<Local>[] = [{ local: after, sent, words: `${cause}; ${party.name} ${writes(written)}${says}` }];
  if (crashes)
    for (let n = 1; n <= written.length; n++) {
      party.load(local);
      dieAfter(federation, n, run);
      const words = `${cause}; ${party.name} ${writes(written.slice(0, n))} and crashes`;
      endings.push({ local: party.save(), sent: [], words });
    }
  if (answersFirst && written.length > 0 && sent.length > 0)
    endings.push({ local, sent, words: `${cause}; ${party.name}${says.slice(4)} first, and crashes before it writes` });
  return endings;
}

function writes(kinds: readonly string[]): string {
  return kinds.length === 0 ? 'writes nothing' : `writes ${kinds.map((kind) => `"${kind}"`).join(' and ')}`;
}

function dieAfter(federation: Federation, records: number, run: () => unknown): void {
  federation.crashIn = records;
  try {
    run();
    throw new Error('it wrote fewer records this time');
  } catch (error) {
    if (!(error instanceof Crash)) throw error;
  } finally {
    federation.crashIn = undefined;
  }
}

/** After every step, the state in memory must equal the state that its records give. */
function holdToRecords<Local>(party: Party<Local>, after: Local): void {
  const live = canonical(party.live());
  party.load(after);
  if (canonical(party.live()) !== live)
    throw new RestoreError(`${party.name} restored from its records is not what it was`);
}
