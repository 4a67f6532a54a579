/**
 * Takes the single message of a device, and checks its header. The upload is recorded as `arriving` before the first byte of the body, and
 * is durable as `waiting` after the last byte. A small upload in one request is recorded once, together with its body.
 */
import { equalBytes, toHex } from '@basa/masking';
import { type Ctx, millis, type Refused, refused } from '@basa/protocol';
import { Batching, ServerRole } from '@basa/protocol/one-shot';
import { type Epoch, heldParts, partsHashOf, type ShotUpload, shotLayout, uploadNameOf } from '@basa/protocol/wire';
import { answerRefusal, fail } from '@basa/service';
import { bodiesOf } from '../blobs/blob-store.ts';
import type { BegunShot, SmallBody, StoredShot } from '../store/shots.ts';
import { type Body, hashToKeep, shotKey } from '../uploads/body.ts';
import type { ShotContext } from './inspector.ts';

/** A valid upload that is not recorded yet. */
export type NewShot = Pick<StoredShot, 'name' | 'upload' | 'version' | 'votes'>;

/** A valid header: the version that its update was trained on, and the time until which the upload can be voted for. */
export type JudgedShot = Pick<NewShot, 'version' | 'votes'>;

function shotOf(begun: BegunShot): StoredShot | Refused {
  if (begun.kind === 'begun') return begun.shot;
  return refused(begun.kind === 'differs' ? 'upload-differs' : 'version-given');
}

export class ShotIntake {
  readonly #context: ShotContext;

  constructor(context: ShotContext) {
    this.#context = context;
  }

  bodyOf({ name, upload }: Pick<NewShot, 'name' | 'upload'>): Body {
    const { policy, ports } = this.#context;
    const { epochs, partsHash } = upload.header;
    const isNamed = (hash: Uint8Array | undefined): boolean => hash !== undefined && equalBytes(hash, partsHash);
    return {
      upload: name,
      layout: shotLayout(policy, epochs),
      modulus: policy.modulus,
      crc: upload.bodyCrc,
      hasParts: (sealed) => isNamed(partsHashOf(ports.suite, heldParts(policy, epochs), sealed)),
    };
  }

  /** Returns the upload if it was started before. It gets the same answer, even if something has changed since. */
  async known(name: Ctx, { header, bodyCrc }: ShotUpload): Promise<StoredShot | undefined> {
    const { store, task, ports } = this.#context;
    if (!equalBytes(uploadNameOf(ports.suite, header), name))
      fail('malformed', { detail: 'the header is not the one that the address names' });
    const known = await store.shot(task, name);
    if (known !== undefined && known.upload.bodyCrc !== bodyCrc) answerRefusal(refused('upload-differs'));
    return known;
  }

  /** Returns what is known about a new upload, or the reason why it is not taken. */
  async judge(upload: ShotUpload): Promise<JudgedShot | Refused> {
    const { policy, epochs, models, ports, store, task } = this.#context;
    const { header } = upload;
    const known = await epochs.named(header.epochs.map(({ statement }) => statement));
    const epoch = (statement: Uint8Array): Epoch | undefined => known.get(toHex(statement));
    const model = await models.named(header.model);
    const problem = ServerRole.shotProblem(
      {
        suite: ports.suite,
        task,
        policy,
        epoch,
        versionOf: () => model?.version,
        newest: models.newest?.version ?? 0,
        now: millis(await store.now()),
      },
      upload,
    );
    if (problem !== undefined || model === undefined) return problem ?? refused('model-unknown');
    if (await models.isRepeated(model.version)) return refused('version-over');
    return { version: model.version, votes: Batching.voteWindow(header, { epochMs: policy.oneShot.epochMs, epoch }) };
  }

  /** From now on the upload is expected. */
  async begin(shot: NewShot): Promise<StoredShot | Refused> {
    const { store, task } = this.#context;
    return shotOf(await store.beginShot(task, shot));
  }

  /** The complete small upload is here, so it is started and accepted in one step. */
  async take(shot: NewShot, body: SmallBody): Promise<StoredShot | Refused> {
    const { store, task } = this.#context;
    return shotOf(await store.takeShot(task, shot, body));
  }

  /** Its body is durable. If the upload was ended while its body came, removes the body and returns the reason. */
  async accept({ name, upload }: StoredShot): Promise<Refused | undefined> {
    const { store, task, blobs, policy } = this.#context;
    const hash = await hashToKeep(blobs, shotKey(policy, name, upload), upload.bodyCrc);
    const stored = await store.acceptShot(task, name, upload.header.user, hash);
    // A missing record is one that was ended so long ago that it was removed.
    const reason = stored === undefined ? 'version-over' : stored.reason;
    if (reason === undefined) return undefined;
    await blobs.removeBelow(bodiesOf(name));
    return refused(reason);
  }
}
