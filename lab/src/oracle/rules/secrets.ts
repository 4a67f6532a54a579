/** Rules for what leaves a device: nothing that an authority is shown depends on its update, and a seed has two locks. */
import { applyMasksInPlace, type HolderSecret, toHex } from '@basa/masking';
import type { Ctx } from '@basa/protocol';
import { HEADER } from '@basa/protocol/http';
import { epochSecretOf } from '@basa/protocol/internal/one-shot/epochs.ts';
import { openPart, partBinding } from '@basa/protocol/internal/one-shot/parts.ts';
import type { HeldPart } from '@basa/protocol/internal/wire/upload.ts';
import { heldParts, ShotHeader, ShotUpload, shotLayout } from '@basa/protocol/wire';
import { withKem } from '@basa/runtime/kem';
import { createNodeSigner, nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { nodeTools } from '@basa/simulator/virtual-time';
import { deviceStore, type World } from '@basa/testkit/world/world.ts';
import type { Adversary } from '../adversary.ts';
import { COUNCIL, type Rule } from './rule.ts';

const suite = withKem(nodeSuite);
const { masks: tools } = nodeTools();

const SEALING = 'x25519+mlkem768';
const COMBINED = 'return kem.sha3(shared, agreed, ephemeralKey, publicKey, LABEL);';
const HYBRID = { oneShot: { sealing: SEALING } } as const;

export const SECRET_RULES: readonly Rule[] = [
  {
    id: 'nothing-of-an-update',
    attack: 'an authority compares what it is shown of two updates that were given with the same coins',
    without: 'a header with a hash of the update',
    learned: ['an authority is shown something of an update'],
    world: COUNCIL,
    async play({ trace, world }) {
      const one = await givenBy(world, new Float32Array(8).fill(0.25));
      const other = await givenBy(world, new Float32Array(8).fill(-0.5));
      if (one.masked === other.masked) throw new Error('the updates are the same');
      if (one.shown !== other.shown) trace.broken.add('an authority is shown something of an update');
    },
    edits: [
      {
        file: 'protocol/src/one-shot/device.ts',
        find: 'partsHash: partsHashOf(suite, held, sealed) as Uint8Array,',
        replace: "partsHash: suite.sha256(new Uint8Array((yield* ask('input', {})).buffer)),",
      },
    ],
  },
  {
    id: 'seeds-need-ml-kem',
    attack: 'somebody breaks X25519, but not ML-KEM',
    without: 'a seed that X25519 alone locks',
    learned: ['x of U0'],
    world: HYBRID,
    play: (adversary) => broken(adversary, ({ agreement }, own) => ({ agreement, decapsulation: own.decapsulation })),
    edits: [
      {
        file: 'masking/src/hybrid-sealing.ts',
        find: COMBINED,
        replace: 'return kem.sha3(agreed, ephemeralKey, publicKey, LABEL);',
      },
    ],
  },
  {
    id: 'seeds-need-x25519',
    attack: 'somebody breaks ML-KEM, but not X25519',
    without: 'a seed that ML-KEM alone locks',
    learned: ['x of U0'],
    world: HYBRID,
    play: (adversary) => broken(adversary, ({ decapsulation }, own) => ({ agreement: own.agreement, decapsulation })),
    edits: [
      {
        file: 'masking/src/hybrid-sealing.ts',
        find: COMBINED,
        replace: 'return kem.sha3(shared, ephemeralKey, publicKey, LABEL);',
      },
    ],
  },
];

/** Opens the only part of an upload with the secrets that the adversary found, and with its own in place of the others. */
async function broken(
  adversary: Adversary,
  found: (secret: HolderSecret, own: HolderSecret) => HolderSecret,
): Promise<void> {
  const [name] = (await adversary.honestUploads(1)) as [Ctx];
  const { header, masks, sealed } = adversary.upload(name);
  const [part] = heldParts(adversary.policy, header.epochs) as [HeldPart];
  const own = epochSecretOf(suite, SEALING, nodeRandomBytes(32));
  const binding = partBinding(suite, header, part, [...adversary.epochs.values()]);
  for (const { drawn, index } of adversary.honest)
    for (const secret of drawn) {
      const holder = found(epochSecretOf(suite, SEALING, secret), own);
      if (openPart(suite, SEALING, { sealed, binding }, index, holder) !== undefined)
        for (const mask of masks) adversary.trace.knows(mask.name);
    }
}

/** Everything that authorities are shown of the upload, and y, which they are not shown. Devices with the same coins, at the same time. */
async function givenBy(
  world: World,
  delta: Float32Array,
): Promise<{ readonly shown: string; readonly masked: string }> {
  let [shown, masked] = ['', ''];
  let drawn = 0;
  const { faults } = world.wire;
  const others = faults.splice(0, faults.length, ({ host, method, path, headers, body = new Uint8Array() }) => {
    if (host !== 'server') shown += JSON.stringify([host, method, path, headers, toHex(body)]);
    const upload = headers[HEADER.upload];
    if (method !== 'PUT' || upload === undefined) return undefined;
    const { header } = ShotUpload.decode(Buffer.from(upload, 'hex'));
    const { vectorBytes } = shotLayout(world.policy, header.epochs);
    shown += toHex(ShotHeader.encode(header)) + toHex(body.subarray(vectorBytes));
    masked = toHex(body.subarray(0, vectorBytes));
    return 'lost';
  });
  const device = await world.device({
    store: deviceStore(createNodeSigner(new Uint8Array(32).fill(7))),
    outside: {
      randomBytes: (length) => Uint8Array.from({ length }, () => (Math.imul(++drawn, 0x9e3779b1) >>> 24) & 255),
      mask: (vector, plan) => applyMasksInPlace(vector, plan, tools),
    },
  });
  const { version } = await device.model();
  [drawn, shown] = [0, ''];
  await device.contribute(delta, { trainedOn: version }).catch(() => undefined);
  faults.splice(0, faults.length, ...others);
  return { shown, masked };
}
