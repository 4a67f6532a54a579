/** The server of a one-shot federation: it accepts uploads, has them inspected and forms batches, by the real rules. */
import { crc32, equalBytes, packedLength, toHex, unpackVector } from '@basa/masking';
import { type Ctx, isRefused, type Refused, refused } from '@basa/protocol';
import { Batching, ServerRole, type Sums } from '@basa/protocol/one-shot';
import {
  type Batch,
  batchCtxOf,
  batchOf,
  type Endorsement,
  Epoch,
  heldParts,
  InputWords,
  InspectRequest,
  MAX_INSPECTED,
  partsHashOf,
  type ShotHeader,
  ShotUpload,
  ShownModel,
  type ShownUpload,
  shotLayout,
  uploadNameOf,
  type Verdict,
} from '@basa/protocol/wire';
import { closeBatch, sumOfBatch } from './one-shot-close.ts';
import { inspectRequest } from './one-shot-requests.ts';
import { newBatch, type ShotDisk, type StoredBatch, type StoredShot } from './one-shot-store.ts';
import { makeVersion } from './one-shot-version.ts';
import type { Accepted, ClosingStore, OneShotWorld, ShotPeer } from './one-shot-world.ts';

const ACCEPTED: Accepted = { kind: 'accepted' };

/** The first words of y, which show whether it is a masked vector. */

export class ShotServer implements ShotPeer, ClosingStore {
  readonly world: OneShotWorld;
  /** On disk. */
  readonly uploads = new Map<string, StoredShot>();
  readonly batches = new Map<string, StoredBatch>();
  readonly epochs = new Map<string, Epoch>();
  readonly #byTag = new Map<string, StoredShot>();

  constructor(world: OneShotWorld) {
    this.world = world;
  }

  /** Everything that it relies on. */
  get disk(): ShotDisk {
    return {
      uploads: [...this.uploads.values()],
      batches: [...this.batches.values()],
      epochs: [...this.epochs],
      models: [...this.world.server.statements],
    };
  }

  /** Restarts from this disk. */
  restore({ uploads, batches, epochs, models }: ShotDisk): void {
    for (const map of [this.uploads, this.batches, this.epochs, this.#byTag]) map.clear();
    for (const shot of uploads) this.#file(shot);
    for (const batch of batches) this.batches.set(toHex(batch.ctx), batch);
    for (const [statement, epoch] of epochs) this.epochs.set(statement, epoch);
    this.world.server.statements.splice(0, Number.POSITIVE_INFINITY, ...models);
  }

  get view(): ServerRole.IntakeView {
    const { environment, task, policy, now, server } = this.world;
    return {
      suite: environment.tools.suite,
      task,
      policy,
      now,
      newest: server.newest.version,
      epoch: (statement) => this.epochs.get(toHex(statement)),
      versionOf: (model) => server.versionOf(model),
    };
  }

  /** Returns the newest model, and the epochs of all authorities that are present. The epochs are kept, because uploads name them. */
  newestModel(): Uint8Array {
    const { keepers, isAway, environment, server } = this.world;
    const epochs = keepers.flatMap((keeper): readonly Epoch[] => {
      const listed = isAway(keeper.base.index) ? refused('epoch-over') : keeper.epochs();
      return isRefused(listed) ? [] : listed.epochs;
    });
    for (const epoch of epochs) this.epochs.set(toHex(Epoch.statementHash(environment.tools.suite, epoch)), epoch);
    return ShownModel.encode({ statement: server.newest, epochs });
  }

  /**
   * Makes the upload durable, then acknowledges it. The same bytes get the same answer; other bytes under the same tag
   * are refused.
   */
  take(uploadBytes: Uint8Array, body: Uint8Array): Accepted | Refused {
    const upload = ShotUpload.decode(uploadBytes);
    const name = uploadNameOf(this.view.suite, upload.header);
    const known = this.#byTag.get(tagOf(upload.header));
    if (known !== undefined && equalBytes(known.name, name)) return toldOf(known);
    if (known !== undefined) return refused('body-mismatch', { detail: 'another upload has this tag' });
    const problem = ServerRole.shotProblem(this.view, upload) ?? this.#bodyProblem(upload, body);
    if (problem !== undefined) return problem;
    this.keep({ name, upload, body, verdict: 'waiting', voters: undefined });
    return ACCEPTED;
  }

  #bodyProblem({ header, bodyBytes, bodyCrc }: ShotUpload, body: Uint8Array): Refused | undefined {
    const { suite, policy } = this.view;
    const { vectorBytes } = shotLayout(policy, header.epochs);
    const held = heldParts(policy, header.epochs);
    const isWhole =
      body.length === bodyBytes &&
      crc32(body) === bodyCrc &&
      equalBytes(partsHashOf(suite, held, body.subarray(vectorBytes)) ?? new Uint8Array(), header.partsHash);
    return isWhole ? undefined : refused('body-mismatch');
  }

  keep(shot: StoredShot): void {
    this.#file(shot);
    this.world.persisted('server');
  }

  #file(shot: StoredShot): void {
    this.uploads.set(toHex(shot.name), shot);
    this.#byTag.set(tagOf(shot.upload.header), shot);
  }

  keepBatch(batch: StoredBatch): StoredBatch {
    this.keepBatches([batch]);
    return batch;
  }

  /** Stores all of them or nothing. */
  keepBatches(batches: readonly StoredBatch[]): readonly StoredBatch[] {
    for (const batch of batches) this.batches.set(toHex(batch.ctx), batch);
    this.world.persisted('server');
    return batches;
  }

  shot(name: Uint8Array): StoredShot {
    const shot = this.uploads.get(toHex(name));
    if (shot === undefined) throw new Error('no such upload');
    return shot;
  }

  /** Returns the upload as authorities see it: without y. */
  shown({ upload, body }: StoredShot): ShownUpload {
    const { vectorBytes } = shotLayout(this.world.policy, upload.header.epochs);
    return { ...upload, sealed: body.subarray(vectorBytes) };
  }

  /** Returns y. */
  vector({ upload, body }: StoredShot): Uint32Array {
    const { elements } = shotLayout(this.world.policy, upload.header.epochs);
    const { modulus } = this.world.policy;
    const unpacked = unpackVector(body.subarray(0, packedLength(elements, modulus)), elements, modulus);
    if (unpacked.kind === 'malformed') throw new Error(unpacked.problem);
    return unpacked.vector;
  }

  /** Has all waiting uploads inspected, and decides uploads with enough verdicts. */
  inspect(): void {
    const waiting = [...this.uploads.values()].filter(({ verdict }) => verdict === 'waiting');
    const verdicts = this.askVerdicts(waiting);
    for (const shot of waiting) {
      const found = verdicts.flatMap((some) => some.get(toHex(shot.name)) ?? []);
      const decided = ServerRole.guardVerdict(this.world.policy, InputWords.guardWordsOf(this.vector(shot)), found);
      if (decided.kind === 'good') this.keep({ ...shot, verdict: 'good', voters: Batching.votersOf(found) });
      if (decided.kind === 'bad') this.keep({ ...shot, verdict: decided.reason });
    }
  }

  /** Returns the verdicts of each authority that is present, by the name of the upload. */
  askVerdicts(shots: readonly StoredShot[]): readonly ReadonlyMap<string, Verdict & Batching.SaidBy>[] {
    const requests: Uint8Array[] = [];
    for (let n = 0; n < shots.length; n += MAX_INSPECTED)
      requests.push(InspectRequest.encode(inspectRequest(this, shots.slice(n, n + MAX_INSPECTED))));
    const there = this.world.keepers.filter(({ base }) => !this.world.isAway(base.index));
    return there.map((keeper) => {
      const answers = requests.map((bytes) => this.world.call('inspect', () => keeper.inspect(bytes)));
      const verdicts = answers.flatMap((answer) => (isRefused(answer) ? [] : answer.verdicts));
      return new Map(verdicts.map((verdict) => [toHex(verdict.upload), { ...verdict, authority: keeper.base.index }]));
    });
  }

  /** Forms a batch of at most K good uploads of one version that are in no other batch; undefined if there are too few. */
  form(): Ctx | undefined {
    const { policy, task } = this.world;
    this.#endLate();
    const free = this.#free().flatMap((shot) => (shot.voters === undefined ? [] : [{ ...shot, voters: shot.voters }]));
    const models = [...new Set(free.map(({ upload }) => toHex(upload.header.model)))];
    for (const model of models) {
      const chosen = Batching.pickBatch(
        policy,
        free.filter(({ upload }) => toHex(upload.header.model) === model),
      );
      if (chosen.length === 0) continue;
      const batch = batchOf(
        task,
        chosen.map(({ name }) => name),
      );
      return this.keepBatch(newBatch(batchCtxOf(this.view.suite, batch), batch)).ctx;
    }
    return undefined;
  }

  /** Batches that hold their uploads: all but the aborted ones. */
  get living(): readonly StoredBatch[] {
    return [...this.batches.values()].filter(({ end }) => end !== 'aborted');
  }

  /** Uploads without a batch that were not refused. */
  #free(): readonly StoredShot[] {
    const taken = new Set(this.living.flatMap(({ batch }) => batch.uploads.map(toHex)));
    return [...this.uploads.values()].filter(
      ({ name, verdict }) => (verdict === 'good' || verdict === 'waiting') && !taken.has(toHex(name)),
    );
  }

  /** No authority votes for these any more. */
  #endLate(): void {
    const { policy, now } = this.world;
    const time = { epochMs: policy.oneShot?.epochMs ?? 0, epoch: this.view.epoch };
    for (const shot of this.#free())
      if (Batching.voteWindow(shot.upload.header, time).last <= now) this.keep({ ...shot, verdict: 'epoch-over' });
  }

  /** Gathers votes and sums of masks, opens the sum and makes the next version, from the state of the batch on. */
  close(ctx: Ctx): Sums.SumVerdict | Refused {
    return this.world.call('close', () => closeBatch(this, ctx));
  }

  /** Returns the sum of the inputs of a batch with these votes, without making a version of it. */
  sumOf(batch: Batch, votes: readonly Endorsement[]): Uint32Array | Refused {
    return sumOfBatch(this, batch, votes);
  }

  /** No further batch is expected: the opened ones make a version, although they are fewer than usual. */
  closeVersion(): void {
    this.world.call('close', () => makeVersion(this, true));
  }

  batch(ctx: Ctx): StoredBatch {
    const batch = this.batches.get(toHex(ctx));
    if (batch === undefined) throw new Error('no such batch');
    return batch;
  }
}

function tagOf({ user, joinTag }: ShotHeader): string {
  return `${toHex(user)}:${toHex(joinTag)}`;
}

function toldOf({ verdict }: StoredShot): Accepted | Refused {
  return verdict === 'waiting' || verdict === 'good' ? ACCEPTED : refused(verdict);
}
