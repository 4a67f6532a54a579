/**
 * An authority of a one-shot federation: the functions of the protocol over its devices, its units, and the uploads it examined since it
 * started.
 */
import { equalBytes, fromHex, type HolderSecret, toHex, withKeysOf } from '@basa/masking';
import { type Ctx, isRefused, type Millis, millis, type Refused, refused } from '@basa/protocol';
import { AuthorityRole, Epochs, Parts } from '@basa/protocol/one-shot';
import { OneShotRules, type Part } from '@basa/protocol/policy';
import {
  BatchVoteRequest,
  Epoch,
  InputWords,
  InspectAnswer,
  InspectRequest,
  LiveEpochs,
  MaskSum,
  ReleaseAnswer,
  ReleaseRequest,
  type ShotHeader,
  signStatement,
  Vote,
} from '@basa/protocol/wire';
import { type FederationAuthority, viaBytes } from './authority.ts';
import type { Environment } from './world.ts';

/** The signed hashes, and the vectors that were asked for in the same order. */
export interface ReleasedSums {
  readonly answer: ReleaseAnswer;
  readonly vectors: readonly Uint8Array[];
}

/** Observes the uploads that are expanded for one sum. */
type SumWatcher = (ctx: Ctx, part: Part, uploads: readonly Parts.MaskedUpload[]) => void;

/** A unit on disk: never in a restored copy. */
interface DiskUnit {
  readonly epoch: Epoch;
  readonly secret: Uint8Array;
  readonly writes: Omit<AuthorityRole.UnitWrite, 'statement'>[];
}

export class ShotAuthority {
  readonly base: FederationAuthority;
  /** The offset of its clock from the time of the world. */
  clockMs = 0;
  onSum: SumWatcher | undefined;
  /** On disk, by the hexadecimal of the statement. */
  readonly units = new Map<string, DiskUnit>();
  /** On disk: the batches of each device, by the hexadecimal of its name. */
  readonly participations = new Map<string, Set<string>>();
  readonly #guardTools: Environment['tools'];
  /** In memory. */
  readonly examined = new Map<string, Parts.ExaminedUpload>();

  constructor(base: FederationAuthority, guardTools: Environment['tools'] = base.world.environment.tools) {
    this.base = base;
    this.#guardTools = guardTools;
  }

  /** Takes over the state of the same authority in another federation. */
  continue({ clockMs, units, participations, examined }: ShotAuthority): void {
    this.clockMs = clockMs;
    for (const [name, unit] of units) this.units.set(name, { ...unit, writes: [...unit.writes] });
    for (const [user, batches] of participations) this.participations.set(user, new Set(batches));
    for (const [name, upload] of examined) this.examined.set(name, upload);
  }

  get now(): Millis {
    return millis(this.base.world.now + this.clockMs);
  }

  /** The authority as the functions of the protocol see it. */
  get view(): AuthorityRole.Authority {
    const { task, policy } = this.base.world;
    return {
      ...this.base.ports,
      task,
      policy,
      index: this.base.index,
      units: [...this.units].map(([name, unit]) => unitOf(name, unit)),
      isRevoked: (user) => this.base.isRevoked(user),
      batchesOf: (user) => this.participations.get(toHex(user))?.size ?? 0,
    };
  }

  /** The unit is durable before its statement leaves. */
  openEpoch(): void {
    const { task, policy, randomBytes, environment } = this.base.world;
    if (!Epochs.isEpochDue(policy, this.view.units, this.now)) return;
    const { suite } = environment.tools;
    const secret = randomBytes(32);
    const keys = Epochs.epochKeysOf(suite, OneShotRules.oneShotOf(policy).sealing, secret);
    const epoch = Epochs.epochStatement(this.base.ports.signer, { task, policy }, keys, this.now);
    this.units.set(toHex(Epoch.statementHash(suite, epoch)), { epoch, secret, writes: [] });
    this.base.world.persisted('authority');
  }

  epochs(): LiveEpochs {
    return LiveEpochs.decode(LiveEpochs.encode({ epochs: Epochs.openEpochs(this.view.units, this.now) }));
  }

  inspect(bytes: Uint8Array): InspectAnswer | Refused {
    const request = InspectRequest.decode(bytes);
    const { task, policy, environment } = this.base.world;
    const epochs = Parts.shownEpochs(environment.tools.suite, { id: task, policy }, request.epochs);
    const ports = this.#ports();
    const found = request.uploads.map((shown) => Parts.examineUpload(ports, { id: task, policy }, shown, epochs));
    const answer = AuthorityRole.inspect(this.view, request, found);
    if (!isRefused(answer))
      for (const [n, { verdict }] of answer.verdicts.entries()) {
        const one = found[n];
        if ((verdict === 'good' || verdict === 'used') && one?.kind === 'examined')
          this.examined.set(toHex(one.name), one);
      }
    return viaBytes(InspectAnswer, answer);
  }

  vote(bytes: Uint8Array): Vote | Refused {
    const request = BatchVoteRequest.decode(bytes);
    const decision = AuthorityRole.vote(this.view, request, (upload) => this.examined.get(toHex(upload))?.header);
    if (isRefused(decision)) return decision;
    this.#persist(decision);
    return viaBytes(Vote, AuthorityRole.signVote(this.view, decision.ctx));
  }

  release(bytes: Uint8Array): ReleasedSums | Refused {
    const request = ReleaseRequest.decode(bytes);
    const decision = AuthorityRole.release(this.view, request);
    if (isRefused(decision)) return decision;
    const opened = this.#open(request);
    if ('kind' in opened) return opened;
    this.#persist(decision);
    const { ctx } = decision;
    const vectors: Uint8Array[] = [];
    const sums: MaskSum[] = [];
    for (const { part, vector } of request.wanted) {
      const packed = this.#sum(ctx, part, opened);
      if (packed === undefined) return refused('part-invalid');
      sums.push(this.#signedSum(ctx, part, packed));
      if (vector) vectors.push(packed);
    }
    return { answer: viaBytes(ReleaseAnswer, { sums }) as ReleaseAnswer, vectors };
  }

  /** Counts, then records: each write may be the last thing that it does. */
  #persist({ ctx, users, writes }: AuthorityRole.Decision): void {
    for (const user of users.map(toHex)) {
      const batches = this.participations.get(user) ?? new Set();
      this.participations.set(user, batches.add(toHex(ctx)));
    }
    for (const { statement, ...write } of writes) {
      this.units.get(toHex(statement))?.writes.push(write);
      this.base.world.persisted('authority');
    }
  }

  /** Destroys the units of epochs that are over. */
  tick(): void {
    for (const [name, { epoch }] of this.units)
      if (Epochs.isEpochOver(this.base.world.policy, epoch, this.now)) this.units.delete(name);
    this.openEpoch();
  }

  /** Acts as after a crash: its memory is gone. */
  restart(): void {
    this.examined.clear();
  }

  /** It is restored from a backup, which has no units. */
  restore(): void {
    this.units.clear();
    this.restart();
  }

  /** For all uploads of one request: each secret is derived once, as in the service. */
  #ports(): Parts.ExaminePorts {
    const tools = this.#guardTools;
    const secrets = new Map<string, HolderSecret>();
    for (const { statement } of this.view.units) {
      const secret = this.epochSecret(statement);
      if (secret !== undefined) secrets.set(toHex(statement), secret);
    }
    const suite = withKeysOf(tools.suite, [...secrets.values()]);
    return { suite, authority: this.base.index, epochSecret: (statement) => secrets.get(toHex(statement)), tools };
  }

  /** Returns the secret that opens parts sealed to this epoch, if its unit lives. */
  epochSecret(statement: Uint8Array): HolderSecret | undefined {
    const secret = this.units.get(toHex(statement))?.secret;
    return (
      secret &&
      Epochs.epochSecretOf(this.#guardTools.suite, OneShotRules.oneShotOf(this.base.world.policy).sealing, secret)
    );
  }

  #open({ epochs, uploads }: ReleaseRequest): readonly [ShotHeader, readonly Parts.OpenedPart[]][] | Refused {
    const { task, policy, environment } = this.base.world;
    const known = Parts.shownEpochs(environment.tools.suite, { id: task, policy }, epochs);
    const ports = this.#ports();
    const all: [ShotHeader, readonly Parts.OpenedPart[]][] = [];
    for (const shown of uploads) {
      const opened = Parts.openParts(ports, { id: task, policy }, shown, known);
      if ('kind' in opened) return opened;
      all.push([shown.header, opened]);
    }
    return all;
  }

  /** Undefined if it does not hold the part. */
  #sum(ctx: Ctx, part: Part, opened: readonly [ShotHeader, readonly Parts.OpenedPart[]][]): Uint8Array | undefined {
    const { policy, environment } = this.base.world;
    const masked = opened.flatMap(([name, parts]): Parts.MaskedUpload[] => {
      const own = parts.find((one) => one.part === part);
      return own === undefined ? [] : [{ name, seed: own.seed.slice() }];
    });
    if (masked.length < opened.length) return undefined;
    this.onSum?.(ctx, part, masked);
    const sum = new Uint32Array(InputWords.inputElements(policy));
    const ports = { suite: environment.tools.suite, tools: environment.tools };
    Parts.addMasksInPlace(sum, ports, policy, part, masked);
    Parts.addAuthorityNoise(sum, ports, policy, this.#namedSecrets(opened.map(([header]) => header)), ctx);
    return Parts.packSum(sum, policy, environment.tools);
  }

  /** The secrets of all epochs of this authority that the batch names, by ascending statement. */
  #namedSecrets(headers: readonly ShotHeader[]): readonly Uint8Array[] {
    const named = new Set(headers.flatMap(({ epochs }) => epochs.map(({ statement }) => toHex(statement))));
    return [...named].sort().flatMap((statement) => this.units.get(statement)?.secret ?? []);
  }

  #signedSum(ctx: Ctx, part: Part, packed: Uint8Array): MaskSum {
    const { suite, signer } = this.base.ports;
    const body = { task: this.base.world.task, ctx, part, hash: suite.sha256(packed) };
    return signStatement(MaskSum, signer, body);
  }
}

function unitOf(name: string, { epoch, writes }: DiskUnit): AuthorityRole.Unit {
  const statement = fromHex(name) as Uint8Array;
  const found = (used: Uint8Array) => writes.filter(({ names }) => names.some((one) => equalBytes(one, used)));
  return {
    epoch,
    statement,
    ctxOf: (used) => found(used).at(-1)?.ctx,
    isFinal: (ctx) => writes.some((write) => write.kind === 'final' && equalBytes(write.ctx, ctx)),
  };
}
