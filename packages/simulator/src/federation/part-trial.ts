/** The sealed parts of one upload of the one-shot mode: sealed by a device and opened by an authority, so that both can be timed. */
import { keysAtOnce, type RandomBytes, SEED_BYTES, type Suite, withKeysOf } from '@basa/masking';
import { type JoinTag, millis, type TaskId, type UserId } from '@basa/protocol';
import { Epochs, Parts } from '@basa/protocol/one-shot';
import { ONE_SHOT_DEFAULTS, type OneShotPolicy } from '@basa/protocol/policy';
import { type Epoch, epochNameOf, heldParts } from '@basa/protocol/wire';

export interface PartTrial {
  /** Of all parts together. */
  readonly sealedBytes: number;
  readonly seal: () => void;
  /** Every part that authority 0 holds. */
  readonly open: () => void;
  /** The same as one of many uploads of a request. */
  readonly openInBatch: () => void;
}

export interface PartTrialOptions extends Pick<OneShotPolicy, 'tolerated' | 'sealing'> {
  readonly authorities: number;
}

/** The keys are new. If the suite caches expanded keys, the first call expands them. */
export function partTrial(
  { suite, randomBytes }: { readonly suite: Suite; readonly randomBytes: RandomBytes },
  { authorities, tolerated, sealing }: PartTrialOptions,
): PartTrial {
  const secrets = Array.from({ length: authorities }, () => randomBytes(32));
  const task = randomBytes(32) as TaskId;
  const epochs = secrets.map((secret, authority): Epoch => {
    const times = { opens: millis(0), closes: millis(1) };
    const keys = Epochs.epochKeysOf(suite, sealing, secret);
    return { task, authority, ...keys, ...times, signature: new Uint8Array(64) };
  });
  const name = { task, joinTag: randomBytes(16) as JoinTag, user: randomBytes(32) as UserId };
  const policy = { authorities: secrets, oneShot: { ...ONE_SHOT_DEFAULTS, tolerated, sealing } };
  const names = epochs.map((epoch) => epochNameOf(suite, epoch));
  const parts = heldParts(policy, names).map((part) => ({
    seed: randomBytes(SEED_BYTES),
    binding: Parts.partBinding(suite, name, part, epochs),
  }));
  const seal = (): readonly Uint8Array[] => keysAtOnce(suite, Parts.sealParts(suite, sealing, parts));
  const sealed = seal();
  const own = Epochs.epochSecretOf(suite, sealing, secrets[0] as Uint8Array);
  const held = parts.flatMap(({ binding }, n) =>
    binding.holders.some(({ authority }) => authority === 0) ? [{ sealed: sealed[n] as Uint8Array, binding }] : [],
  );
  const openBy = (by: Suite): void => {
    for (const entry of held)
      if (Parts.openPart(by, sealing, entry, 0, own) === undefined) throw new Error('a part did not open');
  };
  const inBatch = withKeysOf(suite, [own]);
  return {
    sealedBytes: sealed.reduce((sum, { length }) => sum + length, 0),
    seal: () => void seal(),
    open: () => openBy(suite),
    openInBatch: () => openBy(inBatch),
  };
}
