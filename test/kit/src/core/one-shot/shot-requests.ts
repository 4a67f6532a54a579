/** Requests of a one-shot federation's server to authorities, with any change that a test makes in them. */
import type { Signer } from '@basa/masking';
import { granted, type Refused } from '@basa/protocol';
import { batchProblem } from '@basa/protocol/internal/one-shot/rules.ts';
import {
  batchVote,
  type ClosingBatch,
  distinctEpochs,
  type GuardVerdict,
  guardVerdict,
  type IntakeView,
} from '@basa/protocol/internal/one-shot/server.ts';
import { joined } from '@basa/protocol/internal/wire/council.ts';
import { guardWordsOf } from '@basa/protocol/internal/wire/input.ts';
import {
  type Batch,
  BatchVoteRequest,
  batchCtxOf,
  batchOf,
  type Endorsement,
  type Epoch,
  type InspectAnswer,
  InspectRequest,
  type ModelStatement,
  ReleaseRequest,
  type ShotHeader,
  type ShownUpload,
  type Vote,
} from '@basa/protocol/wire';
import {
  type Changed,
  inspectRequest,
  type OneShotFederation,
  type ReleasedSums,
  releaseRequest,
  type ShotAuthority,
  type StoredShot,
  voteRequest,
} from '@basa/simulator';

export class ShotRequests {
  readonly #world: OneShotFederation;

  constructor(world: OneShotFederation) {
    this.#world = world;
  }

  get signer(): Signer {
    return this.#world.server.ports.signer;
  }

  get shots(): readonly StoredShot[] {
    return [...this.#world.shots.uploads.values()];
  }

  get models(): readonly ModelStatement[] {
    return this.#world.server.statements;
  }

  get view(): IntakeView {
    return this.#world.shots.view;
  }

  /** Indices of the authorities that are present. */
  get indices(): readonly number[] {
    return this.#world.keepers.map(({ base }) => base.index).filter((index) => !this.#world.isAway(index));
  }

  authority(index: number): ShotAuthority {
    const authority = this.#world.keepers[index];
    if (authority === undefined) throw new RangeError(`there is no authority ${index}`);
    return authority;
  }

  /** Keeps an upload that an honest server would refuse. */
  keep(shot: StoredShot): StoredShot {
    this.#world.shots.keep(shot);
    return shot;
  }

  vectorOf(shot: StoredShot): Uint32Array {
    return this.#world.shots.vector(shot);
  }

  shown(shot: StoredShot): ShownUpload {
    return this.#world.shots.shown(shot);
  }

  epochsOf(shots: readonly StoredShot[]): readonly Epoch[] {
    return distinctEpochs(this.view, headersOf(shots));
  }

  inspectRequest(shots: readonly StoredShot[], change: Changed<InspectRequest> = {}): InspectRequest {
    return inspectRequest(this.#world.shots, shots, change);
  }

  inspectBy(index: number, shots: readonly StoredShot[], change?: Changed<InspectRequest>): InspectAnswer | Refused {
    return this.authority(index).inspect(InspectRequest.encode(this.inspectRequest(shots, change)));
  }

  /** Has every upload inspected at every authority, and returns the server's verdicts. */
  inspect(shots: readonly StoredShot[] = this.shots): readonly GuardVerdict[] {
    const answers = this.indices.map((index) => granted(this.inspectBy(index, shots)));
    return shots.map((shot, n) => {
      const verdicts = answers.flatMap(({ verdicts: all }) => all[n] ?? []);
      return guardVerdict(this.#world.policy, guardWordsOf(this.vectorOf(shot)), verdicts);
    });
  }

  batch(shots: readonly StoredShot[] = this.shots): Batch {
    return batchOf(
      this.#world.task,
      shots.map(({ name }) => name),
    );
  }

  voteRequest(batch: Batch, change: Changed<BatchVoteRequest> = {}): BatchVoteRequest {
    return voteRequest(this.#world.shots, batch, change);
  }

  voteBy(index: number, batch: Batch, change?: Changed<BatchVoteRequest>): Vote | Refused {
    return this.authority(index).vote(BatchVoteRequest.encode(this.voteRequest(batch, change)));
  }

  closing(batch: Batch): ClosingBatch {
    const { suite, task, policy } = this.view;
    return { suite, task, policy, ctx: batchCtxOf(suite, batch), headers: headersOf(this.#shotsOf(batch)) };
  }

  /** The votes of these authorities. */
  votes(batch: Batch, indices: readonly number[] = this.indices): readonly Endorsement[] {
    const closing = this.closing(batch);
    const votes = indices.flatMap((index) => {
      return batchVote(closing, index, granted(this.voteBy(index, batch)));
    });
    return joined(votes);
  }

  releaseRequest(batch: Batch, change: Changed<ReleaseRequest> = {}): ReleaseRequest {
    return releaseRequest(this.#world.shots, batch, change);
  }

  releaseBy(index: number, batch: Batch, change?: Changed<ReleaseRequest>): ReleasedSums | Refused {
    return this.authority(index).release(ReleaseRequest.encode(this.releaseRequest(batch, change)));
  }

  /** The sum of the inputs, once every part is released by the authorities that must vouch for it. */
  release(batch: Batch, votes: readonly Endorsement[]): Uint32Array {
    const problem = batchProblem(this.#world.policy, this.closing(batch).headers);
    if (problem !== undefined) throw new Error(problem.reason);
    return granted(this.#world.shots.sumOf(batch, votes));
  }

  #shotsOf({ uploads }: Batch): readonly StoredShot[] {
    return uploads.map((name) => this.#world.shots.shot(name));
  }
}

function headersOf(shots: readonly StoredShot[]): readonly ShotHeader[] {
  return shots.map(({ upload }) => upload.header);
}
