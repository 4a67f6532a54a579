/**
 * Explores every state of the real model logs that a lying server can cause, starting from two closed batches. The server asks each
 * authority for a different version, and shows signed entries at any time.
 */
import { toHex } from '@basa/masking';
import {
  AttributeAuthority,
  type AuthorityRecord,
  type AuthorityStep,
  type Ctx,
  endorse,
  isRefused,
  joined,
  type ModelEntry,
  modelAppendCodec,
  modelEntryCodec,
  type Refused,
} from '@basa/protocol';
import type { ShotAuthority } from '@basa/simulator';
import { ShotOracle } from '../../attacks/one-shot/shot-oracle.ts';
import { honestUploads } from '../../attacks/one-shot/shot-scene.ts';
import { symbolicEnvironment } from '../world/symbolic-federation.ts';
import { canonical } from './canonical.ts';
import type { Space } from './walk.ts';

export interface LogOptions {
  readonly authorities: number;
  readonly threshold: number;
  /** On the server's side: they sign anything it asks for. */
  readonly colluding: number;
  /** The number of models and batches that the server names; two and three by default. */
  readonly models?: number;
  readonly batches?: number;
}

export interface LogState {
  /** The records of each honest authority after the start. */
  readonly logs: readonly (readonly AuthorityRecord[])[];
  /** Entries that were signed, by the hash of their statement, each with the statements of its signers. */
  readonly said: ReadonlyMap<string, ModelEntry>;
}

const VERSIONS = [1, 2];

export class ModelLogs implements Space<LogState> {
  readonly #oracle: ShotOracle;
  readonly #models: readonly number[];
  readonly #threshold: number;
  readonly #genesis: readonly (readonly AuthorityRecord[])[];
  /** Two batches that enough authorities voted for, and one batch that no authority knows. */
  readonly #sums: readonly Ctx[];
  readonly #closed: readonly Ctx[];
  readonly #votes: ReturnType<typeof votesOf>;

  constructor({ authorities, threshold, colluding, models = 2, batches = 3 }: LogOptions) {
    this.#models = Array.from({ length: models }, (_, n) => n + 1);
    const council = { authorities, threshold };
    const shape = authorities > 1 ? { council, tolerated: 1 } : {};
    const own = Array.from({ length: colluding }, (_, n) => n);
    this.#oracle = new ShotOracle(symbolicEnvironment, { bufferSize: 2, ...shape, colluding: own });
    this.#threshold = threshold;
    const [a, b, c, d] = honestUploads(this.#oracle, 4) as [Ctx, Ctx, Ctx, Ctx];
    const lists = [
      [a, b],
      [c, d],
    ];
    for (const [number, list] of lists.entries()) this.#oracle.close(list, number);
    this.#closed = lists.map((list, number) => this.#oracle.ctxOf(list, number));
    this.#sums = [...this.#closed, this.#oracle.ctxOf([a, c], 2)].slice(0, batches);
    this.#votes = votesOf(this.#oracle, lists);
    this.#genesis = this.#oracle.honest.map(({ base }) => [...base.log]);
  }

  start(): LogState {
    return { logs: this.#genesis.map(() => []), said: new Map() };
  }

  nameOf({ logs, said }: LogState): string {
    // An entry that was signed twice gives the same log; the last record is the one it stands by.
    const nameOfLog = (log: LogState['logs'][number]): string =>
      `${[...new Set(log.map(canonical))].sort()}/${canonical(log.at(-1))}`;
    return `${logs.map(nameOfLog).join(';')}|${[...said].map(([hash, entry]) => `${hash}${signersOf(entry)}`).sort()}`;
  }

  successors(state: LogState): readonly (readonly [LogState, string])[] {
    return this.#oracle.honest.flatMap((keeper, n) => [
      ...this.#appends(state, keeper, n),
      ...[...state.said.values()].flatMap((entry) => this.#adopts(state, keeper, n, entry)),
    ]);
  }

  #appends(state: LogState, keeper: ShotAuthority, n: number): readonly (readonly [LogState, string])[] {
    return VERSIONS.flatMap((version) =>
      this.#models.flatMap((hash) =>
        this.#sums.flatMap((sum, number) => {
          const { records, answer } = this.#core(state, keeper, n).appendModel(this.#append(version, hash, sum));
          if (isRefused(answer) || records.length === 0) return [];
          const words = `authority ${keeper.base.index} signs version ${version} with model ${hash} of batch ${number}`;
          return [[this.#after(state, n, records, answer), words] as const];
        }),
      ),
    );
  }

  #append(version: number, hash: number, sum: Ctx) {
    const { world } = this.#oracle;
    const modelHash = new Uint8Array(32).fill(hash);
    const body = { task: world.task, version, modelHash, sums: [sum], spoilt: [], closed: this.#votes };
    return { ...body, signature: world.server.ports.signer.sign(modelAppendCodec.statement(body)) };
  }

  /** Shown with all signatures so far, including those of colluding authorities. */
  #adopts(
    state: LogState,
    keeper: ShotAuthority,
    n: number,
    entry: ModelEntry,
  ): readonly (readonly [LogState, string])[] {
    const { records, answer }: AuthorityStep<ModelEntry | Refused> = this.#core(state, keeper, n).adoptModel(entry);
    if (isRefused(answer) || records.length === 0) return [];
    const logs = state.logs.map((log, m) => (m === n ? [...log, ...records] : log));
    return [[{ ...state, logs }, `authority ${keeper.base.index} is shown version ${entry.version}`]];
  }

  #core(state: LogState, { base }: ShotAuthority, n: number): AttributeAuthority {
    return AttributeAuthority.restore(base.ports, [...(this.#genesis[n] ?? []), ...(state.logs[n] ?? [])]);
  }

  #after({ logs, said }: LogState, n: number, records: readonly AuthorityRecord[], entry: ModelEntry): LogState {
    const { world, colluding } = this.#oracle;
    const hash = toHex(modelEntryCodec.statementHash(world.environment.tools.suite, entry));
    const bought = colluding.flatMap(
      ({ base }) => endorse(modelEntryCodec, world.policy, base.ports.signer, entry).endorsements,
    );
    const endorsements = joined([...bought, ...(said.get(hash)?.endorsements ?? []), ...entry.endorsements]);
    return {
      logs: logs.map((log, m) => (m === n ? [...log, ...records] : log)),
      said: new Map([...said, [hash, { ...entry, endorsements }]]),
    };
  }

  problemOf({ logs, said }: LogState): string | undefined {
    const enough = [...said.values()].filter(({ endorsements }) => endorsements.length >= this.#threshold);
    if (new Set(enough.map(({ version }) => version)).size < enough.length)
      return 'one version has two entries that enough authorities signed';
    const sums = enough.flatMap((entry) => entry.sums.map(toHex));
    const closed = new Set(this.#closed.map(toHex));
    if (sums.some((sum) => !closed.has(sum))) return 'a version was made of a sum that is not closed';
    if (new Set(sums).size < sums.length) return 'one sum made two versions';
    const logged = new Map<number, string>();
    for (const entry of logs.flat().flatMap((one) => (one.kind === 'model-appended' ? [one.entry] : []))) {
      const name = `${toHex(entry.modelHash)}${entry.sums.map(toHex)}`;
      if ((logged.get(entry.version) ?? name) !== name) return `two logs differ at version ${entry.version}`;
      logged.set(entry.version, name);
    }
    return undefined;
  }

  /** With a lying server every end is allowed. */
  terminalProblem(): undefined {
    return undefined;
  }
}

function signersOf({ endorsements }: ModelEntry): string {
  return endorsements.map(({ authority }) => authority).join();
}

function votesOf(oracle: ShotOracle, lists: readonly (readonly Ctx[])[]) {
  return lists.map((list, number) => {
    const ctx = oracle.ctxOf(list, number);
    return { task: oracle.world.task, ctx, closing: ctx, endorsements: oracle.votesFor(list, number) };
  });
}
