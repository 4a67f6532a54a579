/**
 * The server, some authorities and some devices as one adversary, against honest authorities and devices: the real services and the real
 * SDK. It reads along, forges and lies, asks honest authorities anything, and its trace has what it can compute from the answers.
 */
import { signingDevice } from '@basa/conformance/signing-device.ts';
import { concatBytes, keysAtOnce, SEED_BYTES, toHex, unpackVector } from '@basa/masking';
import { type Ctx, REFUSALS, type RefusalReason } from '@basa/protocol';
import { AUTHORITY_PATH, HEADER } from '@basa/protocol/http';
import { problemCodeOf } from '@basa/protocol/internal/http/problems.ts';
import { partBinding, partTerm, sealParts } from '@basa/protocol/internal/one-shot/parts.ts';
import { endorse, joined } from '@basa/protocol/internal/wire/council.ts';
import { isHolder, oneShotOf, taskParts } from '@basa/protocol/internal/wire/one-shot-policy.ts';
import type { ShotHeaderBody } from '@basa/protocol/internal/wire/upload.ts';
import type { TaskPolicy } from '@basa/protocol/policy';
import {
  type Batch,
  BatchVoteRequest,
  batchCtxOf,
  batchOf,
  type Endorsement,
  type Epoch,
  epochNameOf,
  heldParts,
  InspectAnswer,
  InspectRequest,
  LiveEpochs,
  partsHashOf,
  ReleaseAnswer,
  ReleaseRequest,
  ShotHeader,
  ShotUpload,
  type ShownUpload,
  shotLayout,
  unframeHeader,
  uploadNameOf,
  Vote,
} from '@basa/protocol/wire';
import { withKem } from '@basa/runtime/kem';
import { nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import type { AuthorityParty } from '@basa/testkit/world/authority-party.ts';
import type { Asked } from '@basa/testkit/world/wire.ts';
import { World, type WorldOptions } from '@basa/testkit/world/world.ts';
import { OracleDevice } from './device.ts';
import { explained, type Mask, masksOf, summed } from './masks.ts';
import { Trace } from './trace.ts';

const suite = withKem(nodeSuite);
const SOON_MS = 500;

export interface AdversaryOptions extends WorldOptions {
  /** Indices of the authorities on its side. */
  readonly colluding?: readonly number[];
}

/** An upload as the server has it. */
export interface SeenUpload extends ShotUpload {
  readonly name: Ctx;
  readonly vector: Uint8Array;
  readonly sealed: Uint8Array;
  /** In the order of the parts. */
  readonly masks: readonly Mask[];
  readonly seeds: readonly Uint8Array[];
  /** Undefined if it is of the adversary. */
  readonly input: number | undefined;
}

/** The sealed parts of an upload, with their seeds. */
export type Parts = Pick<SeenUpload, 'sealed' | 'seeds'>;

/** The falsified parts of a request. */
export interface Lie {
  readonly votes?: readonly Endorsement[];
  /** Parts by the name of the upload, as hex. */
  readonly sealed?: ReadonlyMap<string, Uint8Array>;
  /** An upload that is not shown. */
  readonly withheld?: Ctx;
  /** The batch lists its uploads in the wrong order. */
  readonly isDescending?: true;
}

/** The answer of an honest authority. */
interface Answer {
  readonly bytes: Uint8Array | undefined;
}

export class Adversary {
  readonly world: World;
  readonly colluding: readonly AuthorityParty[];
  readonly honest: readonly AuthorityParty[];
  trace = new Trace();
  readonly uploads = new Map<string, SeenUpload>();
  /** By the hash of the statement. */
  readonly epochs = new Map<string, Epoch>();
  /** By the name of the batch. */
  readonly votes = new Map<string, readonly Endorsement[]>();
  /** Masks of seeds that it drew itself. */
  readonly #own: Mask[] = [];
  /** Models that it showed, to show them again. */
  readonly kept: Uint8Array[] = [];
  /** Shown to devices in place of the newest model. */
  shown: Uint8Array | undefined;
  #devices = 0;
  /** The server does its work. */
  #isHonest = false;
  /** The device whose upload comes next. */
  #giving: { readonly device: OracleDevice; name?: Ctx; crashes: boolean } | undefined;

  private constructor(world: World, colluding: readonly number[]) {
    this.world = world;
    this.colluding = world.authorities.filter(({ index }) => colluding.includes(index));
    this.honest = world.authorities.filter(({ index }) => !colluding.includes(index));
  }

  static async open({ colluding = [], ...options }: AdversaryOptions = {}): Promise<Adversary> {
    const world = await World.open(options);
    const adversary = new Adversary(world, colluding);
    adversary.#intercept();
    world.elapse(1000);
    return adversary;
  }

  /** A task of its own in the same world, with nothing of the others. */
  async anew(policy: Partial<TaskPolicy> = {}): Promise<void> {
    this.trace = new Trace();
    for (const known of [this.uploads, this.epochs, this.votes]) known.clear();
    this.kept.length = 0;
    this.#own.length = 0;
    this.#devices = 0;
    this.shown = undefined;
    await this.world.createTask(policy);
    this.world.elapse(1000);
  }

  get policy(): TaskPolicy {
    return this.world.policy;
  }

  /** The server takes uploads and does nothing with them: what is asked of authorities is asked here. */
  #intercept(): void {
    const { faults, readers } = this.world.wire;
    faults.push((asked) => {
      if (asked.host === 'server' && asked.method === 'PUT' && asked.headers[HEADER.upload] !== undefined)
        return this.#taken(asked);
      if (asked.path.endsWith('/models/newest') && this.shown !== undefined)
        return answered(this.shown, 'octet-stream');
      return undefined;
    });
    readers.push((asked, { status, body }) => {
      if (status !== 200) return undefined;
      if (asked.host === 'server' && asked.path.endsWith('/models/newest')) this.kept.push(body);
      if (asked.path === AUTHORITY_PATH.epochs(this.#task))
        for (const epoch of LiveEpochs.decode(body).epochs) this.#note(epoch);
      return undefined;
    });
  }

  #note(epoch: Epoch): void {
    this.epochs.set(toHex(epochNameOf(suite, epoch).statement), epoch);
  }

  get #task() {
    return this.world.taskId;
  }

  /** A device, enrolled at all authorities. */
  async device(isColluder = false): Promise<OracleDevice> {
    return OracleDevice.enrolled(this.world, isColluder, this.#devices++);
  }

  /** The device trains on what it is shown, and gives. Undefined if it refuses. */
  async give(device: OracleDevice, { crashes = false } = {}): Promise<Ctx | undefined> {
    const giving: { device: OracleDevice; name?: Ctx; crashes: boolean } = { device, crashes };
    this.#giving = giving;
    this.world.elapse(SOON_MS); // the server asks for new epochs at most so often
    const refusal = await device.give();
    this.#giving = undefined;
    if (refusal !== undefined && refusal in REFUSALS) this.trace.refused('user', refusal);
    return giving.name;
  }

  #taken({ headers, body = new Uint8Array() }: Asked) {
    const giving = this.#giving;
    if (giving === undefined) throw new Error('nobody is giving');
    const upload = ShotUpload.decode(Buffer.from(headers[HEADER.upload] ?? '', 'hex'));
    giving.name = this.#keep(upload, body, giving.device);
    if (this.#isHonest) return undefined;
    if (giving.crashes) return 'answer-lost' as const;
    return answered(new TextEncoder().encode(JSON.stringify({ received: body.length, accepted: true })), 'json');
  }

  #keep(upload: ShotUpload, body: Uint8Array, device: OracleDevice): Ctx {
    const name = uploadNameOf(suite, upload.header);
    if (this.uploads.has(toHex(name))) return name;
    if (!device.isColluder && device.given.has(toHex(upload.header.model)))
      this.trace.broken.add('a device gives twice on one model');
    device.given.add(toHex(upload.header.model));
    device.certificate = upload.certificate;
    const { vectorBytes } = shotLayout(this.policy, upload.header.epochs);
    const seeds = device.lastPlan().terms.map(({ seed }) => seed.reveal());
    const masks = this.#masksOf(upload.header, seeds);
    const input = device.isColluder ? undefined : this.trace.newInput(device.nextName());
    if (input !== undefined)
      this.trace.sawMasked(
        input,
        masks.map((mask) => mask.name),
      );
    for (const [n, { holders }] of heldParts(this.policy, upload.header.epochs).entries()) {
      const isSeen = holders.some(({ authority }) => this.colluding.some(({ index }) => index === authority));
      if (isSeen || device.isColluder) this.trace.knows((masks[n] as Mask).name);
    }
    const [vector, sealed] = [body.slice(0, vectorBytes), body.slice(vectorBytes)];
    this.uploads.set(toHex(name), { ...upload, name, vector, sealed, seeds, masks, input });
    return name;
  }

  upload(name: Ctx): SeenUpload {
    const upload = this.uploads.get(toHex(name));
    if (upload === undefined) throw new Error('there is no such upload');
    return upload;
  }

  /** An upload with any parts under the name of a device of the adversary. */
  async forge(device: OracleDevice, header: ShotHeaderBody, { sealed, seeds }: Parts): Promise<Ctx> {
    const partsHash = partsHashOf(suite, heldParts(this.policy, header.epochs), sealed) ?? new Uint8Array(32);
    const body = { ...header, user: device.user, partsHash };
    const signature = await device.store.signer.sign(ShotHeader.statement(body));
    const name = uploadNameOf(suite, body);
    const { certificate } = device;
    if (certificate === undefined) throw new Error('a device that forges has given before');
    const upload = { certificate, header: { ...body, signature }, bodyBytes: sealed.length, bodyCrc: 0 };
    const masks = this.#masksOf(body, seeds);
    const vector = new Uint8Array();
    this.uploads.set(toHex(name), { ...upload, name, vector, sealed, seeds, masks, input: undefined });
    return name;
  }

  /** Parts with seeds of the adversary, sealed as the device of this header would. */
  ownParts(header: ShotHeaderBody): Parts {
    const epochs = this.#epochsOf([header]);
    const held = heldParts(this.policy, header.epochs);
    const seeds = held.map(() => nodeRandomBytes(SEED_BYTES));
    const parts = held.map((part, n) => ({
      seed: seeds[n] as Uint8Array,
      binding: partBinding(suite, header, part, epochs),
    }));
    const sealed = concatBytes(...keysAtOnce(suite, sealParts(suite, oneShotOf(this.policy).sealing, parts)));
    const masks = this.#masksOf(header, seeds);
    for (const { name } of masks) this.trace.knows(name);
    this.#own.push(...masks);
    return { sealed, seeds };
  }

  #masksOf(header: ShotHeaderBody, seeds: readonly Uint8Array[]): readonly Mask[] {
    const terms = heldParts(this.policy, header.epochs).map(({ part }, n) =>
      partTerm(suite, header, part, (seeds[n] as Uint8Array).slice(), 1),
    );
    const { elements } = shotLayout(this.policy, header.epochs);
    return masksOf({ modulus: this.policy.modulus, salt: header.joinTag, terms }, elements);
  }

  #epochsOf(headers: readonly ShotHeaderBody[]): readonly Epoch[] {
    const named = new Set(headers.flatMap(({ epochs }) => epochs.map(({ statement }) => toHex(statement))));
    return [...named].flatMap((statement) => this.epochs.get(statement) ?? []);
  }

  #shown(name: Ctx, lie: Lie): ShownUpload {
    const { certificate, header, sealed } = this.upload(name);
    return { certificate, header, sealed: lie.sealed?.get(toHex(name)) ?? sealed };
  }

  ctxOf(uploads: readonly Ctx[]): Ctx {
    return batchCtxOf(suite, batchOf(this.#task, uploads));
  }

  #batch(names: readonly Ctx[], { isDescending }: Lie): Batch {
    const batch = batchOf(this.#task, names);
    return isDescending ? { ...batch, uploads: [...batch.uploads].reverse() } : batch;
  }

  async inspect(party: AuthorityParty, names: readonly Ctx[], lie: Lie = {}): Promise<InspectAnswer | undefined> {
    const uploads = names.map((name) => this.#shown(name, lie));
    const epochs = this.#epochsOf(uploads.map(({ header }) => header));
    const body = { task: this.#task, epochs, uploads };
    const signed = { ...body, signature: this.world.serverSigner.sign(InspectRequest.statement(body)) };
    const { bytes } = await this.#ask(party, AUTHORITY_PATH.inspections(this.#task), InspectRequest.encode(signed));
    if (bytes === undefined) return undefined;
    const answer = InspectAnswer.decode(bytes);
    for (const { reason } of answer.verdicts) if (reason !== undefined) this.trace.refused('authority', reason);
    return answer;
  }

  /** Has the uploads inspected, and asks for a vote. */
  async vote(party: AuthorityParty, names: readonly Ctx[], lie: Lie = {}): Promise<boolean> {
    await this.inspect(party, names);
    const body = { batch: this.#batch(names, lie) };
    const signed = { ...body, signature: this.world.serverSigner.sign(BatchVoteRequest.statement(body)) };
    const request = BatchVoteRequest.encode(signed);
    const { bytes } = await this.#ask(party, AUTHORITY_PATH.batchVotes(this.#task), request);
    const vote = bytes && Vote.decode(bytes);
    if (vote === undefined) return false;
    const ctx = toHex(batchCtxOf(suite, body.batch));
    this.votes.set(ctx, joined([...(this.votes.get(ctx) ?? []), ...vote.endorsements]));
    return true;
  }

  /** Those that it was given for this batch, and those of its own authorities. */
  votesFor(names: readonly Ctx[], lie: Lie = {}): readonly Endorsement[] {
    const ctx = batchCtxOf(suite, this.#batch(names, lie));
    const body = { task: this.#task, ctx };
    const bought = this.colluding.flatMap(({ signer }) => endorse(Vote, this.policy, signer, body).endorsements);
    return joined([...(this.votes.get(toHex(ctx)) ?? []), ...bought]);
  }

  /** Asks for every sum of masks of the batch that this authority can make. Undefined if it refuses. */
  async release(
    party: AuthorityParty,
    names: readonly Ctx[],
    lie: Lie = {},
  ): Promise<readonly Uint32Array[] | undefined> {
    const batch = this.#batch(names, lie);
    const shown = batch.uploads.filter((name) => name !== lie.withheld);
    const uploads = shown.map((name) => this.#shown(name, lie));
    const parts = taskParts(this.policy).filter((part) => isHolder(part, party.index));
    const body = {
      batch,
      votes: lie.votes ?? this.votesFor(names, lie),
      epochs: this.#epochsOf(uploads.map(({ header }) => header)),
      uploads,
      wanted: parts.map((part) => ({ part, vector: true })),
    };
    const signed = { ...body, signature: this.world.serverSigner.sign(ReleaseRequest.statement(body)) };
    const { bytes } = await this.#ask(party, AUTHORITY_PATH.releases(this.#task), ReleaseRequest.encode(signed));
    if (bytes === undefined) return undefined;
    const sums = this.#sumsOf(bytes, parts.length);
    this.#released(batch.uploads);
    for (const [n, sum] of sums.entries())
      this.#explain(sum, taskParts(this.policy).indexOf(parts[n] as number), batch.uploads);
    return sums;
  }

  #sumsOf(bytes: Uint8Array, count: number): readonly Uint32Array[] {
    const { header, bodyStart } = unframeHeader(bytes, 65_536);
    ReleaseAnswer.decode(header);
    const { elements, vectorBytes } = shotLayout(this.policy, []);
    return Array.from({ length: count }, (_, n) => {
      const at = bodyStart + n * vectorBytes;
      const unpacked = unpackVector(bytes.subarray(at, at + vectorBytes), elements, this.policy.modulus);
      if (unpacked.kind !== 'vector') throw new Error(unpacked.problem);
      return unpacked.vector;
    });
  }

  #released(names: readonly Ctx[]): void {
    const all = names.map((name) => this.upload(name));
    const users = new Set(all.map(({ header }) => toHex(header.user)));
    const { versionMinimum = this.policy.minimum } = oneShotOf(this.policy);
    const models = all.map(({ header }) => toHex(header.model));
    const least = Math.min(...models.map((model) => models.filter((one) => one === model).length));
    const isMixed = new Set(models).size > 1;
    const areEnough = !isMixed || (versionMinimum < this.policy.minimum && least >= versionMinimum);
    this.trace.released({
      name: toHex(this.ctxOf(names)),
      inputs: all.flatMap(({ input }) => input ?? []),
      isAllowed: users.size >= this.policy.minimum && areEnough,
    });
  }

  /** The first part of the masks of these uploads, without noise. */
  sumOfMasks(names: readonly Ctx[]): Uint32Array {
    return summed(
      names.flatMap((name) => this.upload(name).masks.slice(0, 1)),
      this.policy.modulus,
    );
  }

  /** Finds the masks in a sum by their numbers: the authority may have opened other seeds than those of these uploads. */
  #explain(sum: Uint32Array, part: number, names: readonly Ctx[]): void {
    if (oneShotOf(this.policy).authorityNoise) return; // no sum of masks is exact
    const parts = taskParts(this.policy).length;
    const maskOf = ({ masks }: SeenUpload): readonly Mask[] => masks.slice(part, part + 1);
    const expected = names.flatMap((name) => maskOf(this.upload(name)));
    const others = [...[...this.uploads.values()].flatMap(maskOf), ...this.#own.filter((_, n) => n % parts === part)];
    const masks = explained(sum, expected, others, this.policy.modulus);
    if (masks === undefined) this.trace.broken.add('a sum of masks has something that nobody can explain');
    else this.trace.sawSum(masks.map(({ name }) => name));
  }

  /** Inspects, votes and releases at every honest authority. True if one of them released. */
  async close(names: readonly Ctx[]): Promise<boolean> {
    for (const party of this.honest) await this.vote(party, names);
    const answers = [];
    for (const party of this.honest) answers.push(await this.release(party, names));
    return answers.some((answer) => answer !== undefined);
  }

  /** The server makes a version honestly, of the updates of other devices. */
  async makeVersion(): Promise<void> {
    this.#isHonest = true;
    await this.honestUploads(this.policy.bufferSize);
    await this.world.reached(1);
    this.#isHonest = false;
    this.world.elapse(SOON_MS);
  }

  /** These parts in place of those of the upload. */
  instead(name: Ctx, sealed: Uint8Array): ReadonlyMap<string, Uint8Array> {
    return new Map([[toHex(name), sealed]]);
  }

  /** Uploads of as many honest devices. */
  async honestUploads(count: number): Promise<readonly Ctx[]> {
    const names: Ctx[] = [];
    for (let n = 0; n < count; n++) names.push((await this.give(await this.device())) as Ctx);
    return names;
  }

  /** Devices of its own, each with one upload. */
  async colluders(count: number): Promise<readonly Colluder[]> {
    const all: Colluder[] = [];
    for (let n = 0; n < count; n++) {
      const device = await this.device(true);
      all.push({ device, name: (await this.give(device)) as Ctx });
    }
    return all;
  }

  /** Two uploads of one colluder on one model. */
  async twoUploads(): Promise<readonly [Ctx, Ctx]> {
    const [{ device, name }] = (await this.colluders(1)) as [Colluder];
    const header = withOtherTag(this.upload(name).header);
    return [name, await this.forge(device, header, this.ownParts(header))];
  }

  /** Time passes: epochs end, and others open. */
  async wait(ms: number): Promise<void> {
    this.world.elapse(ms);
    for (const { service } of this.world.authorities) await service.tick();
  }

  /** As the server of the task. */
  async #ask(party: AuthorityParty, path: string, body: Uint8Array): Promise<Answer> {
    const at = this.world.now;
    const headers = signingDevice(this.world.serverSigner).headers({
      audience: party.publicKey,
      method: 'POST',
      target: path,
      body,
      at,
    });
    const { status, body: bytes } = await this.world.wire.ask({
      host: party.host,
      method: 'POST',
      path,
      headers: { ...headers, 'content-type': 'application/octet-stream' },
      body,
    });
    if (status === 200) return { bytes };
    const code = problemCodeOf(JSON.parse(Buffer.from(bytes).toString('utf8')));
    if (status === 500) throw new Error(`authority ${party.index} failed: ${code}`);
    this.trace.refused('authority', code as RefusalReason);
    return { bytes: undefined };
  }
}

/** A device of the adversary, with an upload. */
export interface Colluder {
  readonly device: OracleDevice;
  readonly name: Ctx;
}

export function withOtherTag(header: ShotHeaderBody): ShotHeaderBody {
  return { ...header, joinTag: header.joinTag.map((byte) => byte ^ 1) as ShotHeaderBody['joinTag'] };
}

function answered(body: Uint8Array, type: 'json' | 'octet-stream') {
  return { status: 200, headers: { 'content-type': `application/${type}` }, body };
}
