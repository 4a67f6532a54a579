/** Uploads and batches for client tests: the real cores of server and authority, with the epoch keys of one authority in memory. */
import { addPackedInPlace, equalBytes, fromHex, type HolderSecret, subtractInPlace, toHex } from '@basa/masking';
import {
  addMasksInPlace,
  batchOf,
  batchVoteRequestCodec,
  type Ctx,
  type Epoch,
  type ExaminedUpload,
  type ExaminePorts,
  epochKeysOf,
  epochNameOf,
  epochSecretOf,
  epochStatement,
  examineUpload,
  granted,
  HEADER,
  type IntakeView,
  isEpochDue,
  isRefused,
  type ModelStatement,
  modelNameOf,
  type OpenedPart,
  oneShotOf,
  openEpochs,
  openParts,
  problemOfRefusal,
  type Refused,
  refused,
  type Sealing,
  type ShotUpload,
  type ShownEpochs,
  type ShownModel,
  type ShownUpload,
  shotLayout,
  shotProblem,
  shotUploadCodec,
  shownEpochs,
  shownModelCodec,
  signStatement,
  type Unit,
  uploadNameOf,
  vote,
} from '@basa/protocol';
import { withKem } from '@basa/runtime/kem';
import { nodeCrc32, nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import type { UploadFate } from '../../src/services/server-client.ts';
import type { Asked } from './http-listener.ts';
import { bytes, documented, json, problem, type Reply } from './http-replies.ts';
import { Pieces } from './pieces.ts';
import type { TestWorld } from './test-world.ts';

const suite = withKem(nodeSuite);

interface Taken extends ShownUpload {
  readonly name: Ctx;
  readonly vector: Uint8Array;
  readonly examined: ExaminedUpload;
}

export class ShotService {
  readonly #world: TestWorld;
  readonly #secrets = new Map<string, Uint8Array>();
  readonly #epochs: Epoch[] = [];
  readonly #pieces = new Pieces();
  /** Uploads that wait for their batch. */
  taken: Taken[] = [];
  /** Opens a batch as soon as it is full. */
  opensWhenFull = false;
  /** The server's statement on every upload. */
  fate: UploadFate | undefined;

  constructor(world: TestWorld) {
    this.#world = world;
  }

  /** The newest model with the open epochs of the authority, which opens another one if it is due. */
  newestModel(): ShownModel {
    const { authority, now, policy, statements, task } = this.#world;
    const statement = statements.at(-1) as ModelStatement;
    if (policy.oneShot === undefined) return { statement, epochs: [] };
    if (isEpochDue(policy, this.#units, now)) {
      const secret = nodeRandomBytes(32);
      const epoch = epochStatement(authority, { task, policy }, epochKeysOf(suite, this.#sealing, secret), now);
      this.#secrets.set(toHex(epochNameOf(nodeSuite, epoch).statement), secret);
      this.#epochs.push(epoch);
    }
    return { statement, epochs: openEpochs(this.#units, now) };
  }

  /** The model that goes with a place. */
  withPlace(): { readonly model?: string } {
    if (this.#world.policy.oneShot === undefined) return {};
    return { model: toHex(shownModelCodec.encode(this.newestModel())) };
  }

  /** A task's newest model, or its room `shots` at the server. */
  reply(asked: Asked): Reply {
    const [, , , , room, name = '', last] = asked.path.split('/');
    if (room === 'models') return bytes(shownModelCodec.encode(this.newestModel()));
    if (last === 'fate') {
      const isWaiting = this.taken.some((one) => toHex(one.name) === name);
      return json({ fate: this.fate ?? (isWaiting ? 'waiting' : 'included') });
    }
    const upload = shotUploadCodec.decode(fromHex(String(asked.headers[HEADER.upload])) ?? new Uint8Array());
    if (toHex(uploadNameOf(nodeSuite, upload.header)) !== name) return problem('not-found');
    const no = shotProblem(this.#view(), upload);
    if (no !== undefined) return documented(problemOfRefusal(no));
    const { bodyBytes } = shotLayout(this.#world.policy, upload.header.epochs);
    const isKnown = this.taken.some((one) => toHex(one.name) === name);
    return this.#pieces.receive(asked, { name, bodyBytes, isKnown, accept: (body) => this.#accept(upload, body) });
  }

  /** Forms a batch of all that wait, has it voted for, and opens its sum, which makes the next version. */
  openBatch(): Uint32Array {
    const { authority, policy, serverSigner, task } = this.#world;
    const batch = batchOf(
      task,
      this.taken.map(({ name }) => name),
    );
    const request = signStatement(batchVoteRequestCodec, serverSigner, { batch });
    const view = {
      suite,
      signer: authority,
      task,
      policy,
      index: 0,
      units: this.#units,
      isRevoked: () => false,
      batchesOf: () => 0,
    };
    granted(vote(view, request, (name) => this.taken.find((one) => equalBytes(one.name, name))?.header));
    const sum = this.#sum();
    this.taken = [];
    this.#world.nextVersion();
    return sum;
  }

  /** Of y less the masks of the one part that there is with one authority. */
  #sum(): Uint32Array {
    const { policy, task, tools } = this.#world;
    const { elements } = shotLayout(policy, this.taken[0]?.header.epochs ?? []);
    const [sum, masks] = [new Uint32Array(elements), new Uint32Array(elements)];
    for (const { vector } of this.taken) addPackedInPlace(sum, vector, policy.modulus, tools.kernel);
    const seeds = this.taken.map((one) => {
      const [opened] = granted(openParts(this.#ports, { id: task, policy }, one, this.#shown()));
      return { name: one.header, seed: (opened as OpenedPart).seed };
    });
    addMasksInPlace(masks, { suite: nodeSuite, tools }, policy, 0, seeds);
    subtractInPlace(sum, masks, policy.modulus, tools.kernel);
    return sum;
  }

  #accept(upload: ShotUpload, body: Uint8Array): { readonly kind: 'accepted' } | Refused {
    const { policy, task } = this.#world;
    const { header } = upload;
    if (nodeCrc32(body) !== upload.bodyCrc) return refused('body-mismatch');
    const { vectorBytes } = shotLayout(policy, header.epochs);
    const [vector, sealed] = [body.slice(0, vectorBytes), body.slice(vectorBytes)];
    const examined = examineUpload(this.#ports, { id: task, policy }, { ...upload, sealed }, this.#shown());
    if (isRefused(examined)) return examined;
    this.taken.push({ ...upload, sealed, vector, examined, name: examined.name });
    if (this.opensWhenFull && this.taken.length === policy.bufferSize) this.openBatch();
    return { kind: 'accepted' };
  }

  #view(): IntakeView {
    const { now, policy, statements, task, version } = this.#world;
    const isNamed = (one: Epoch, statement: Uint8Array): boolean =>
      equalBytes(epochNameOf(nodeSuite, one).statement, statement);
    return {
      suite: nodeSuite,
      task,
      policy,
      now,
      newest: version,
      versionOf: (model) => statements.find((one) => equalBytes(modelNameOf(nodeSuite, one), model))?.version,
      epoch: (statement) => this.#epochs.find((one) => isNamed(one, statement)),
    };
  }

  /** Without names: no test asks twice. */
  get #units(): readonly Unit[] {
    return this.#epochs.map((epoch) => ({
      epoch,
      statement: epochNameOf(nodeSuite, epoch).statement,
      ctxOf: () => undefined,
      isFinal: () => false,
    }));
  }

  #shown(): ShownEpochs {
    const { policy, task } = this.#world;
    return shownEpochs(nodeSuite, { id: task, policy }, this.#epochs);
  }

  get #ports(): ExaminePorts {
    const { tools } = this.#world;
    const epochSecret = (name: Uint8Array): HolderSecret | undefined => {
      const secret = this.#secrets.get(toHex(name));
      return secret && epochSecretOf(suite, this.#sealing, secret);
    };
    return { suite, authority: 0, tools, epochSecret };
  }

  get #sealing(): Sealing {
    return oneShotOf(this.#world.policy).sealing;
  }
}
