/** Everything that has left a party of a one-shot world and cannot be withdrawn: uploads, votes, sums of masks, outcomes. */
import { type MaskTerm, toHex } from '@basa/masking';
import {
  batchCtxOf,
  batchVoteRequestCodec,
  type Ctx,
  type Endorsement,
  type EpochName,
  heldParts,
  isRefused,
  joined,
  partTerm,
  type ShotOutcomeOf,
  shotUploadCodec,
  uploadNameOf,
  voteWindow,
} from '@basa/protocol';
import type { ShotAuthority, ShotDevice } from '@basa/simulator';
import type { ShotOracle } from '../../../attacks/one-shot/shot-oracle.ts';
import { type Expansion, expansionOf } from '../../../attacks/one-shot/shot-trace.ts';

export interface SeenUpload {
  readonly device: string;
  /** The update in it, for honest devices. */
  readonly update: string | undefined;
  readonly expansions: readonly Expansion[];
  /** Seeds that authorities on the server's side can open. */
  readonly opened: readonly string[];
  /** The time at which the last authority stops voting for it. */
  readonly votesEnd: number;
}

/** The names of facts are the state; a fact of one name always has the same value. */
export class Facts {
  #known = new Set<string>();
  readonly uploads = new Map<string, SeenUpload>();
  readonly batches = new Map<string, readonly string[]>();
  readonly #votes = new Map<string, readonly Endorsement[]>();
  readonly sums = new Map<string, readonly Expansion[]>();
  readonly #outcomes = new Map<string, ShotOutcomeOf>();
  readonly #oracle: ShotOracle;
  #masks: readonly Expansion[] = [];

  constructor(oracle: ShotOracle) {
    this.#oracle = oracle;
    for (const keeper of oracle.honest) this.#listenToAuthority(keeper);
    this.#listenToServer();
  }

  get names(): readonly string[] {
    return [...this.#known].sort();
  }

  load(names: readonly string[]): void {
    this.#known = new Set(names);
    this.#oracle.votes.clear();
    for (const name of names) {
      const [kind, , ctx = ''] = name.split(':');
      if (kind !== 'vote') continue;
      const votes = [...(this.#oracle.votes.get(ctx) ?? []), ...(this.#votes.get(name) ?? [])];
      this.#oracle.votes.set(ctx, joined(votes));
    }
  }

  has(name: string): boolean {
    return this.#known.has(name);
  }

  add(name: string): void {
    this.#known.add(name);
  }

  /** Returns the statements of authorities about an upload. */
  outcomesOf(upload: string): readonly ShotOutcomeOf[] {
    return this.names.flatMap((name) => (name.includes(`:${upload}:`) ? (this.#outcomes.get(name) ?? []) : []));
  }

  listenToDevice(device: ShotDevice): void {
    device.onMask = ({ plan }) => {
      this.#masks = plan.terms.map((term: MaskTerm) => expansionOf(term));
    };
  }

  /** The upload has left its device. It may still be lost or refused. */
  #sawUpload(bytes: Uint8Array, update: string | undefined): void {
    const { header } = shotUploadCodec.decode(bytes);
    const { world, colluding } = this.#oracle;
    const name = toHex(uploadNameOf(world.environment.tools.suite, header));
    const isOpened = (holders: readonly EpochName[]): boolean =>
      holders.some(({ authority }) => colluding.some(({ base }) => base.index === authority));
    const opened = heldParts(world.policy, header.epochs).flatMap(({ holders }, n) =>
      update === undefined || isOpened(holders) ? [this.#masks[n]?.seed ?? ''] : [],
    );
    const { policy, shots } = world;
    const votesEnd = voteWindow(header, { voteMs: policy.oneShot?.voteMs ?? 0, epoch: shots.view.epoch }).last;
    this.uploads.set(name, { device: toHex(header.user), update, expansions: this.#masks, opened, votesEnd });
    this.add(`up:${name}`);
  }

  #listenToServer(): void {
    const { world } = this.#oracle;
    const take = world.shots.take.bind(world.shots);
    world.shots.take = (bytes, body) => {
      const user = toHex(shotUploadCodec.decode(bytes).header.user);
      const device = world.shooters.find(({ own }) => toHex(own.user) === user);
      this.#sawUpload(bytes, device && toHex(device.own.deltaId));
      return take(bytes, body);
    };
  }

  #listenToAuthority(keeper: ShotAuthority): void {
    const { suite } = this.#oracle.world.environment.tools;
    const k = keeper.base.index;
    const [vote, outcome] = [keeper.vote.bind(keeper), keeper.outcome.bind(keeper)];
    keeper.vote = (bytes) => {
      const answer = vote(bytes);
      if (isRefused(answer) || answer.vote === undefined) return answer;
      const { batch } = batchVoteRequestCodec.decode(bytes);
      const ctx = toHex(batchCtxOf(suite, batch));
      if (!this.batches.has(ctx)) this.batches.set(ctx, batch.uploads.map(toHex));
      this.#votes.set(`vote:${k}:${ctx}`, answer.vote.endorsements);
      this.add(`vote:${k}:${ctx}`);
      return answer;
    };
    keeper.outcome = (question) => {
      const answer = outcome(question);
      if (isRefused(answer) || answer.status !== 'expired') return answer;
      const upload = [...this.uploads.keys()].find((name) => this.#isOf(name, question.joinTag)) ?? '';
      this.#outcomes.set(`said:${k}:${upload}:`, { authority: k, outcome: answer });
      this.add(`said:${k}:${upload}:`);
      return answer;
    };
    keeper.onSum = (ctx: Ctx, part, uploads) => {
      const expansions = uploads.map(({ name, seed }) => expansionOf(partTerm(suite, name, part, seed.slice(), 1)));
      const name = `sum:${k}:${toHex(ctx)}:${part}:${expansions.map(({ salt }) => salt).join()}`;
      this.sums.set(name, expansions);
      this.add(name);
    };
  }

  #isOf(name: string, joinTag: Uint8Array): boolean {
    const shot = this.#oracle.world.shots.uploads.get(name);
    return shot !== undefined && toHex(shot.upload.header.joinTag) === toHex(joinTag);
  }
}
