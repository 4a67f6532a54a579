/** A tab as a device: connects, trains and contributes for as long as its gate is open, and recovers from failures. */
import {
  BasaClient,
  type Contribution,
  gatheringText,
  type Outside,
  type RoundTrainer,
  type RunSummary,
  webOutside,
} from '@basa/client/web';
import type { Samples } from '@basa/learning';
import { type Modulus, modulusSize, RING_32, toHex } from '@basa/masking';
import { refusalText } from '@basa/protocol/http';
import { InputWords } from '@basa/protocol/wire';
import type { FromDevice, ToDevice, UpdateView } from './device-messages.ts';
import { type Gate, persistently } from './gate.ts';

const FATE_MS = 400;
/** The largest number of words of a vector that is shown. */
const SHOWN_WORDS = 16_384;

type Join = Extract<ToDevice, { readonly kind: 'join' }>;
type Tell = (news: FromDevice) => void;

/** The parts of an update's picture besides its words. */
interface Shown {
  floats: Float32Array;
  modulus: Modulus;
  /** The last picture on its way to the page, which ends this worker when the device has left. */
  telling: Promise<void>;
}

/** Resolves when the device has left; rejects with an error that a retry would not fix. */
export async function live(join: Join, gate: Gate, tell: Tell): Promise<void> {
  const shown: Shown = { floats: new Float32Array(), modulus: RING_32, telling: Promise.resolve() };
  const { trainerOf, samplesOf } = await import('./training.ts');
  const trainer = trainerOf(join.hints);
  const samples = await samplesOf(join.data, trainer);
  const watching = watcher(shown, trainer.model.dimension, tell);
  const connect = (): Promise<BasaClient> =>
    BasaClient.connect({
      ...join.settings,
      // What the page has said to the person, and nothing else: the policy comes from the authorities.
      floor: { noNoise: join.noNoise, unsafeMixedVersions: join.isPaper },
      identity: `tab-${join.settings.task.slice(0, 16)}`,
      watchMasking: watching,
      signal: gate.signal,
    });
  const { sleep } = await webOutside();
  const patient = { gate, tell, sleep };
  const client = await persistently(patient, connect);
  if (client === undefined) return tell({ kind: 'left', accepted: 0 });
  shown.modulus = client.policy.modulus;
  if (client.policy.manifestHash.every((byte) => byte === 0)) {
    await client.close();
    throw new Error(
      'this task does not fix its network, so a tab would have to trust the server; tabs do not take part in such tasks',
    );
  }
  const isPaper = client.policy.oneShot === undefined;
  if (isPaper && !join.isPaper) {
    await client.close();
    throw new Error('this task runs in the unsafe mode of the paper, but the server did not say so');
  }
  const { isInterrupted } = client;
  tell({
    kind: 'connected',
    device: toHex(client.deviceKey),
    examples: samples.indices.length,
    isResuming: isInterrupted,
  });
  const { spent } = client.privacy;
  if (spent !== undefined) tell({ kind: 'privacy', ...spent });
  listen(client, tell);
  const life = new Life({ client, gate, tell, sleep, rounds: join.rounds, isPaper });
  try {
    await persistently(patient, () => life.goOn(observed(trainer, shown, tell), samples));
  } finally {
    await client.close();
  }
  await shown.telling;
  tell({ kind: 'left', accepted: life.accepted });
}

interface LifeOptions {
  readonly client: BasaClient;
  readonly gate: Gate;
  readonly tell: Tell;
  readonly sleep: Outside['sleep'];
  readonly rounds: number | undefined;
  readonly isPaper: boolean;
}

/** Rounds until there are enough; can be continued after any abort. */
class Life {
  accepted = 0;
  #awaited: Contribution | undefined;
  readonly #options: LifeOptions;

  constructor(options: LifeOptions) {
    this.#options = options;
  }

  async goOn(trainer: RoundTrainer, samples: Samples): Promise<void> {
    const { client, gate, rounds, tell, isPaper } = this.#options;
    let isResumed = false;
    const forget = client.on('accepted', (contribution) => {
      const { ctx, position, costs } = contribution;
      this.accepted++;
      // Paper mode has no status of a single update.
      if (!isPaper) this.#awaited = contribution;
      tell({ kind: 'accepted', ctx, costs, isResumed, ...(position !== undefined && { position }) });
    });
    try {
      for (;;) {
        const { signal } = gate;
        if (this.#awaited !== undefined) await this.#fate(this.#awaited, signal);
        const left = (rounds ?? Number.POSITIVE_INFINITY) - this.accepted;
        if (left <= 0) return;
        isResumed = client.isInterrupted;
        if (isResumed) await client.resume({ signal });
        else {
          const { ended } = isPaper
            ? await this.#paper(trainer, samples, left, signal)
            : await client.run(trainer, samples, { rounds: 1, signal });
          if (ended !== 'rounds' && ended !== 'done')
            return tell({ kind: 'ended', code: ended, sentence: refusalText(ended) });
        }
      }
    } finally {
      forget();
    }
  }

  /** Only here the pairing library is loaded. */
  async #paper(trainer: RoundTrainer, samples: Samples, rounds: number, signal: AbortSignal): Promise<RunSummary> {
    const { unsafePaperRun } = await import('@basa/client/unsafe-paper');
    return unsafePaperRun(this.#options.client, trainer, samples, { rounds, signal });
  }

  /** Until the server has decided. */
  async #fate(contribution: Contribution, signal: AbortSignal): Promise<void> {
    const { client, tell, sleep } = this.#options;
    for (;;) {
      const fate = await client.fate(contribution, { signal });
      if (fate !== 'waiting') {
        this.#awaited = undefined;
        return tell({ kind: 'fate', ctx: contribution.ctx, fate });
      }
      await sleep(FATE_MS, signal);
    }
  }
}

function listen(client: BasaClient, tell: Tell): void {
  client.on('model', ({ version }) => tell({ kind: 'model', version }));
  client.on('progress', ({ step, sent, total }) =>
    tell({ kind: 'step', step, ...(sent !== undefined && { sent }), ...(total !== undefined && { total }) }),
  );
  client.on('privacy', (spent) => tell({ kind: 'privacy', ...spent }));
  client.on('rejected', ({ reason, detail }) =>
    tell({ kind: 'rejected', sentence: refusalText(reason), ...(detail !== undefined && { detail }) }),
  );
  client.on('waiting', (gathering) => tell({ kind: 'waiting', why: gatheringText(gathering) }));
  client.on('retry', ({ service, why }) => tell({ kind: 'waiting', why: `${service}: ${why}` }));
}

/** Reports each training, and keeps its result to show it together with its upload. */
function observed(trainer: RoundTrainer, shown: Shown, tell: Tell): RoundTrainer {
  return {
    model: trainer.model,
    ...(trainer.loss !== undefined && { loss: trainer.loss }),
    ...(trainer.evaluate !== undefined && { evaluate: trainer.evaluate }),
    async train(request) {
      const began = performance.now();
      const result = await trainer.train(request);
      shown.floats = result.delta.slice(0, SHOWN_WORDS);
      tell({ kind: 'trained', loss: result.loss, samples: result.samples, ms: performance.now() - began });
      return result;
    },
  };
}

/** Shows the update without the words before and behind it, of which paper mode has none. */
function watcher(shown: Shown, dimension: number, tell: Tell) {
  return (quantised: Uint32Array, masked: Uint32Array): void => {
    const floats = shown.floats.slice();
    const behind = quantised.length > dimension ? InputWords.GUARD_WORDS / 2 : 0;
    const start = quantised.length - dimension - behind;
    shown.telling = import('./uniformity.ts').then(({ byteEvenness }) => {
      const view: UpdateView = {
        floats,
        quantised: quantised.slice(start, start + SHOWN_WORDS),
        masked: masked.slice(start, start + SHOWN_WORDS),
        size: modulusSize(shown.modulus),
        ...byteEvenness(masked, shown.modulus),
      };
      quantised.fill(0);
      tell({ kind: 'update', view });
    });
  };
}
