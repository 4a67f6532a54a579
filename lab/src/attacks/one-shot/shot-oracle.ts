/**
 * A one-shot federation in which the server, some devices and some authorities are one adversary. The adversary sends any request to the
 * honest authorities, and the trace computes everything that it can learn from the answers.
 */
import { concatBytes, crc32, DecodeError, keysAtOnce, SEED_BYTES, toHex } from '@basa/masking';
import {
  type Batch,
  batchCtxOf,
  batchVoteRequestCodec,
  type Ctx,
  distinctEpochs,
  type Endorsement,
  endorse,
  heldParts,
  type InspectAnswer,
  inspectRequestCodec,
  isHolder,
  isRefused,
  joined,
  type ModelEntry,
  oneShotOf,
  partBinding,
  partsHashOf,
  partTerm,
  type Refused,
  releaseRequestCodec,
  type ShotHeader,
  type ShotHeaderBody,
  type ShownUpload,
  sealParts,
  shotHeaderCodec,
  shotUploadCodec,
  taskParts,
  uploadNameOf,
  voteCodec,
} from '@basa/protocol';
import {
  Crash,
  type Environment,
  granted,
  inspectRequest,
  OneShotFederation,
  type OneShotOptions,
  type ReleasedSums,
  releaseRequest,
  type ShotAuthority,
  type ShotDevice,
  type StoredShot,
  voteRequest,
} from '@basa/simulator';
import { type Expansion, expansionOf, ShotTrace } from './shot-trace.ts';

export interface ShotOracleOptions extends Partial<OneShotOptions> {
  /** Indices of authorities on the server's side. */
  readonly colluding?: readonly number[];
}

/** The parts of a release request that the adversary may falsify. */
export interface ReleaseLie {
  readonly votes?: readonly Endorsement[];
  /** By the name of the upload, as hex. */
  readonly sealed?: ReadonlyMap<string, Uint8Array>;
  /** Uploads that it does not show. */
  readonly withheld?: readonly Ctx[];
}

/** A device of the adversary that forges an upload. */
export type Forger = Pick<ShotDevice['own'], 'user' | 'signer' | 'certificate'>;

export class ShotOracle {
  readonly world: OneShotFederation;
  readonly trace = new ShotTrace();
  readonly honest: readonly ShotAuthority[];
  readonly colluding: readonly ShotAuthority[];
  /** The votes that it has, by the name of the batch. */
  readonly votes = new Map<string, readonly Endorsement[]>();
  /** Honest updates, by the name of their uploads. */
  readonly #inputs = new Map<string, number>();
  readonly #symbols = new Map<string, number>();
  /** The masks of the upload that each device stored last. */
  readonly #masks = new Map<number, readonly Expansion[]>();
  /** The number of updates that each device has contributed, by the number of the device. */
  readonly #updates = new Map<number, number>();

  constructor(environment: Environment, { colluding = [], ...options }: ShotOracleOptions = {}, from?: ShotOracle) {
    this.world = from?.world.copy() ?? new OneShotFederation(environment, { bufferSize: 3, dimension: 1, ...options });
    this.honest = this.world.keepers.filter(({ base }) => !colluding.includes(base.index));
    this.colluding = this.world.keepers.filter(({ base }) => colluding.includes(base.index));
    for (const keeper of this.honest) this.#watch(keeper);
    if (from !== undefined) this.#continue(from);
  }

  /** Returns an oracle in the same state. Steps of the copy change nothing here, and this one must take no more steps. */
  copy(): ShotOracle {
    const colluding = this.colluding.map(({ base }) => base.index);
    return new ShotOracle(this.world.environment, { colluding }, this);
  }

  #continue(from: ShotOracle): void {
    this.trace.continue(from.trace);
    for (const [ctx, votes] of from.votes) this.votes.set(ctx, votes);
    for (const [name, input] of from.#inputs) this.#inputs.set(name, input);
    for (const [delta, symbol] of from.#symbols) this.#symbols.set(delta, symbol);
    for (const [device, updates] of from.#updates) this.#updates.set(device, updates);
    for (const [device, masks] of from.#masks) this.#masks.set(device, masks);
  }

  /** The adversary gets everything that the authority expands for a sum. */
  #watch(keeper: ShotAuthority): void {
    const { suite } = this.world.environment.tools;
    keeper.onSum = (_, part, uploads) =>
      this.trace.sawSum(uploads.map(({ name, seed }) => expansionOf(partTerm(suite, name, part, seed.slice(), 1))));
    this.#noteRefusals(keeper);
  }

  #noteRefusals(keeper: ShotAuthority): void {
    const noted = <Answer>(answer: Answer | Refused): Answer | Refused => {
      if (isRefused(answer)) this.trace.refused('authority', answer.reason);
      return answer;
    };
    const inspect = keeper.inspect.bind(keeper);
    const vote = keeper.vote.bind(keeper);
    const release = keeper.release.bind(keeper);
    keeper.inspect = (bytes) => {
      const answer = noted(inspect(bytes));
      const reasons = isRefused(answer) ? [] : answer.verdicts.flatMap(({ reason }) => reason ?? []);
      for (const reason of reasons) this.trace.refused('authority', reason);
      return answer;
    };
    keeper.vote = (bytes) => noted(vote(bytes));
    keeper.release = (bytes) => noted(release(bytes));
  }

  /** An honest device contributes its update; the adversary has the upload. Undefined if the device refuses. */
  give(device: ShotDevice, standings: Uint8Array = this.world.shots.standings()): Ctx | undefined {
    const given = this.#given(device, standings, (name, expansions) => this.#saw(device, name, expansions));
    if (given === undefined || !isRefused(given)) return given;
    this.trace.refused('user', given.reason);
    return undefined;
  }

  /** The same, but the device crashes before it gets the answer. */
  giveAndCrash(device: ShotDevice): Ctx {
    let given: Ctx | undefined;
    try {
      this.#given(device, this.world.shots.standings(), (name, expansions) => {
        given = name;
        this.#saw(device, name, expansions);
        throw new Crash('user');
      });
    } catch (error) {
      if (!(error instanceof Crash)) throw error;
    }
    device.own.restart();
    if (given === undefined) throw new Error('nothing left the device');
    return given;
  }

  /** A device of the adversary contributes an upload whose seeds it has. */
  colluderGives(device: ShotDevice): Ctx {
    const given = this.tryColluder(device);
    if (given === undefined) throw new Error('the colluder gave nothing');
    return given;
  }

  /** Undefined if no authority has a statement for it. */
  tryColluder(device: ShotDevice): Ctx | undefined {
    const given = this.#given(device, this.world.shots.standings(), (_, expansions) => {
      for (const { seed } of expansions) this.trace.knows(seed);
    });
    return given === undefined || isRefused(given) ? undefined : given;
  }

  /** The server keeps every upload, even if an honest server would refuse it. */
  #given(
    device: ShotDevice,
    standings: Uint8Array,
    seen: (name: Ctx, expansions: readonly Expansion[]) => void,
  ): Ctx | Refused | undefined {
    const listener = device.onMask;
    device.onMask = (masking) => {
      listener?.(masking);
      this.#masks.set(device.own.number, masking.plan.terms.map(expansionOf));
    };
    try {
      return this.#sent(device, standings, seen);
    } finally {
      device.onMask = listener;
    }
  }

  #sent(
    device: ShotDevice,
    standings: Uint8Array,
    seen: (name: Ctx, expansions: readonly Expansion[]) => void,
  ): Ctx | Refused | undefined {
    let given: Ctx | undefined;
    const start = device.own.session === undefined ? device.gather(standings) : undefined;
    if (start !== undefined && isRefused(start)) return start;
    if (device.own.session !== undefined && device.own.session.step !== 'shot') return undefined;
    const answer = device.drive(start, ({ upload: bytes, body }) => {
      const upload = shotUploadCodec.decode(bytes);
      const name = uploadNameOf(this.world.environment.tools.suite, upload.header);
      this.world.shots.keep({ name, upload, body, verdict: 'waiting', voters: undefined });
      given = name;
      seen(name, this.#masks.get(device.own.number) ?? []);
      return { kind: 'accepted' };
    });
    return given ?? (answer as Refused);
  }

  #saw(device: ShotDevice, name: Ctx, expansions: readonly Expansion[]): void {
    const update = `${device.own.number} ${device.own.updates}`;
    const input = this.#symbols.get(update) ?? this.trace.newInput(this.#nextName(device));
    this.#symbols.set(update, input);
    this.#inputs.set(toHex(name), input);
    this.trace.sawMasked(input, expansions);
    this.#learnSeeds(name, expansions);
  }

  #nextName(device: ShotDevice): string {
    const updates = (this.#updates.get(device.own.number) ?? 0) + 1;
    this.#updates.set(device.own.number, updates);
    return `x of U${device.own.number}${updates > 1 ? `, update ${updates}` : ''}`;
  }

  /** Authorities on its side open every part that they hold. */
  #learnSeeds(name: Ctx, expansions: readonly Expansion[]): void {
    const stored = this.world.shots.uploads.get(toHex(name));
    if (stored === undefined) return;
    for (const [n, { holders }] of heldParts(this.world.policy, stored.upload.header.epochs).entries())
      if (holders.some(({ authority }) => this.colluding.some(({ base }) => base.index === authority)))
        this.trace.knows((expansions[n] as Expansion).seed);
  }

  stored(name: Ctx): StoredShot {
    return this.world.shots.shot(name);
  }

  /** An upload of a colluder with any content, signed with its key. It is kept as if it had been accepted. */
  forge({ user, signer, certificate }: Forger, body: ShotHeaderBody, sealed: Uint8Array): Ctx {
    const { suite } = this.world.environment.tools;
    const partsHash = partsHashOf(suite, heldParts(this.world.policy, body.epochs), sealed) ?? new Uint8Array(32);
    const whole = { ...body, user, partsHash };
    const header: ShotHeader = { ...whole, signature: signer.sign(shotHeaderCodec.statement(whole)) };
    const name = uploadNameOf(suite, header);
    const [{ length }] = [this.stored(this.#anyName()).body];
    const vector = new Uint8Array(length - sealed.length);
    const forged = concatBytes(vector, sealed);
    const upload = { certificate, header, bodyBytes: forged.length, bodyCrc: crc32(forged) };
    this.world.shots.keep({ name, upload, body: forged, verdict: 'good', voters: undefined });
    return name;
  }

  #anyName(): Ctx {
    const [first] = this.world.shots.uploads.values();
    if (first === undefined) throw new Error('nobody gave anything yet');
    return first.name;
  }

  /** Parts with seeds of the adversary's own, sealed as an honest device of this name would. */
  ownParts(header: ShotHeaderBody): Uint8Array {
    const { suite } = this.world.environment.tools;
    const epochs = distinctEpochs(this.world.shots.view, [header as ShotHeader]);
    const parts = heldParts(this.world.policy, header.epochs).map((part) => {
      const seed = this.world.randomBytes(SEED_BYTES);
      this.trace.knows(toHex(seed));
      return { seed, binding: partBinding(suite, header, part, epochs) };
    });
    return concatBytes(...keysAtOnce(suite, sealParts(suite, oneShotOf(this.world.policy).sealing, parts)));
  }

  inspect(keeper: ShotAuthority, names: readonly Ctx[]): InspectAnswer | Refused {
    const request = inspectRequest(
      this.world.shots,
      names.map((name) => this.stored(name)),
    );
    return keeper.inspect(inspectRequestCodec.encode(request));
  }

  /** The same for one upload, which is shown with these parts. */
  inspectWith(keeper: ShotAuthority, name: Ctx, sealed: Uint8Array): InspectAnswer | Refused {
    const { shots } = this.world;
    const shot = this.stored(name);
    const request = inspectRequest(shots, [shot], { uploads: [{ ...shots.shown(shot), sealed }] });
    return keeper.inspect(inspectRequestCodec.encode(request));
  }

  batchOf(uploads: readonly Ctx[], number = 0): Batch {
    return { task: this.world.task, number, uploads };
  }

  ctxOf(uploads: readonly Ctx[], number = 0): Ctx {
    return batchCtxOf(this.world.environment.tools.suite, this.batchOf(uploads, number));
  }

  /**
   * Asks for a vote after the uploads were inspected: those that the authority has not examined since it started, because an inspection
   * records nothing. Shows the votes that it has, including those of colluding authorities.
   */
  vote(keeper: ShotAuthority, names: readonly Ctx[], number = 0): boolean {
    const unseen = names.filter((name) => !keeper.examined.has(toHex(name)));
    if (unseen.length > 0) this.inspect(keeper, unseen);
    const votes = this.votesFor(names, number);
    const request = voteRequest(this.world.shots, this.batchOf(names, number), { votes });
    const answer = keeper.vote(batchVoteRequestCodec.encode(request));
    if (isRefused(answer)) return false;
    if (answer.vote === undefined) {
      // Instead of its vote, it names the batch that has one of the uploads.
      this.trace.refused('authority', 'upload-used');
      return false;
    }
    const ctx = toHex(this.ctxOf(names, number));
    this.votes.set(ctx, joined([...(this.votes.get(ctx) ?? []), ...answer.vote.endorsements]));
    if (this.world.policy.threshold === 1) this.#final(names, number);
    return true;
  }

  /** The votes that it was given, and those of colluding authorities. */
  votesFor(names: readonly Ctx[], number: number): readonly Endorsement[] {
    const ctx = this.ctxOf(names, number);
    const body = { task: this.world.task, ctx, closing: ctx };
    const bought = this.colluding.flatMap(
      ({ base }) => endorse(voteCodec, this.world.policy, base.ports.signer, body).endorsements,
    );
    return joined([...(this.votes.get(toHex(ctx)) ?? []), ...bought]);
  }

  /** Returns all sums that this authority can make of the batch. */
  release(keeper: ShotAuthority, names: readonly Ctx[], number = 0, lie: ReleaseLie = {}): ReleasedSums | Refused {
    const { shots, policy } = this.world;
    const withheld = (lie.withheld ?? []).map(toHex);
    const shown = names.filter((name) => !withheld.includes(toHex(name)));
    const uploads = shown.map((name): ShownUpload => {
      const sealed = lie.sealed?.get(toHex(name));
      return { ...shots.shown(this.stored(name)), ...(sealed === undefined ? {} : { sealed }) };
    });
    const wanted = taskParts(policy)
      .filter((part) => isHolder(part, keeper.base.index))
      .map((part) => ({ part, vector: true }));
    const votes = lie.votes ?? this.votesFor(names, number);
    const request = releaseRequest(shots, this.batchOf(names, number), { votes, uploads, wanted });
    const answer = keeper.release(releaseRequestCodec.encode(request));
    if (!isRefused(answer)) this.#final(names, number);
    return answer;
  }

  /** Shows these votes. They need not be well-formed: a request that no authority can decode gets no answer. */
  tryRelease(keeper: ShotAuthority, names: readonly Ctx[], number: number, votes: readonly Endorsement[]): void {
    try {
      this.release(keeper, names, number, { votes });
    } catch (error) {
      if (!(error instanceof DecodeError) && !(error instanceof RangeError)) throw error;
    }
  }

  /** Inspects, votes and releases at every honest authority. */
  close(names: readonly Ctx[], number = 0): boolean {
    for (let turn = 0; turn < 2; turn++) for (const keeper of this.honest) this.vote(keeper, names, number);
    const answers = this.honest.map((keeper) => this.release(keeper, names, number));
    return answers.some((answer) => !isRefused(answer));
  }

  /** Makes the next version of the model from this batch. */
  logVersion(names: readonly Ctx[], number = 0): void {
    granted(this.tryLogVersion(names, number));
  }

  /** Refused if no authority signs it. */
  tryLogVersion(names: readonly Ctx[], number = 0): ModelEntry | Refused {
    const { world } = this;
    const ctx = this.ctxOf(names, number);
    const version = world.server.entry().version + 1;
    const modelHash = world.environment.tools.suite.sha256(world.server.modelBytes(version));
    const closed = [{ task: world.task, ctx, closing: ctx, endorsements: this.votesFor(names, number) }];
    return world.server.tryLogModel({ task: world.task, version, modelHash, sums: [ctx], spoilt: [], closed });
  }

  #final(names: readonly Ctx[], number: number): void {
    const headers = names.map((name) => this.stored(name).upload.header);
    const devices = new Set(headers.map(({ user }) => toHex(user)));
    const { minimum } = this.world.policy;
    const inputs = names.flatMap((name) => this.#inputs.get(toHex(name)) ?? []);
    if (new Set(headers.map(({ entry }) => toHex(entry))).size > 1)
      this.trace.broken.add('a batch has updates on two models');
    if (devices.size < names.length) this.trace.broken.add('a device is in a batch twice');
    this.trace.final({ name: toHex(this.ctxOf(names, number)), inputs, isEnough: devices.size >= minimum });
  }
}
