/** Lies that a client must not fall for: each is a change of what real services say, and the step that must not follow. */
import { concatBytes, type Signer, SLOT_KEY_BYTES, toHex } from '@basa/masking';
import {
  AUTHORITY_PATH,
  certificateCodec,
  decodePolicy,
  descriptorCodec,
  drawnBufferCodec,
  encodePolicy,
  HEADER,
  millis,
  modelEntryCodec,
  newestModelCodec,
} from '@basa/protocol';
import { nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import type { Asked } from '../service-proxy.ts';
import { slotLies, tellingSlotLie } from '../slot-lies.ts';
import { isStep, type Step } from '../steps.ts';
import type { ClientTrial } from './client-trial.ts';
import { councilLies } from './council-lies.ts';
import { keyLies } from './key-lies.ts';
import { changing, flipped, type Lie, STRANGER, signedBy } from './lie.ts';
import { shotLies } from './one-shot/shot-lies.ts';

export function lies(serverSigner: Signer, bufferSize: number): readonly Lie[] {
  return [
    {
      name: 'refuses an authority with another key than the pinned one',
      before: 'enrolment',
      settings: { BASA_AUTHORITY_KEY: toHex(STRANGER.publicKey) },
      tell: () => undefined,
    },
    {
      name: 'refuses a policy that does not hash to the task',
      before: 'enrolment',
      tell: ({ authority }) =>
        changing(authority, /\/policy$/, (body) => encodePolicy({ ...decodePolicy(body), minimum: 3 })),
    },
    {
      name: 'refuses a certificate that the authority did not sign',
      before: 'seat',
      tell: ({ authority }) =>
        changing(authority, /\/enrolments$/, (body) => {
          const certificate = certificateCodec.decode(body);
          return certificateCodec.encode({
            ...certificate,
            endorsements: signedBy(STRANGER, certificateCodec, certificate),
          });
        }),
    },
    {
      name: 'refuses a head that the authority did not sign',
      before: 'deposit',
      tell: ({ authority }) => {
        authority.onAnswer = (_, answer) => {
          const { [HEADER.head]: head, ...headers } = answer.headers;
          const forged = String(head).replace(/.{128}$/, toHex(nodeRandomBytes(64)));
          return { ...answer, headers: { ...headers, [HEADER.head]: forged } };
        };
      },
    },
    {
      name: 'refuses a model that is not the logged one',
      before: 'deposit',
      tell: ({ server }) => changing(server, /\/models\/0$/, flipped),
    },
    {
      name: 'refuses a model entry that the authority did not sign',
      before: 'deposit',
      tell: ({ authority, policy, server }) => {
        changing(server, /\/models\/0$/, flipped);
        changing(authority, NEWEST, (body) => {
          const told = newestModelCodec.decode(body);
          const model = flipped(new Uint8Array(4 * policy.dimension));
          const entry = { ...told.entry, modelHash: nodeSuite.sha256(model) };
          const endorsements = signedBy(STRANGER, modelEntryCodec, entry);
          const forged = { ...told, entry: { ...entry, endorsements } };
          return newestModelCodec.encode({ ...forged, signature: STRANGER.sign(newestModelCodec.statement(forged)) });
        });
      },
    },
    {
      name: 'refuses an answer about the newest model that was given to another',
      before: 'deposit',
      tell: async ({ authority, authorityUrls, task }) => {
        const path = AUTHORITY_PATH.newestModel(task, nodeRandomBytes(16));
        const kept = await (await fetch(authorityUrls[0] + path)).arrayBuffer();
        changing(authority, NEWEST, () => new Uint8Array(kept));
      },
    },
    {
      name: 'refuses a descriptor that the server made up',
      before: 'deposit',
      tell: ({ server }) =>
        changing(server, /\/seats$/, (body) => {
          const { descriptor, slotKeys } = drawnBufferCodec.decode(body);
          const other = { ...descriptor, expiry: millis(descriptor.expiry + 1) };
          const endorsements = signedBy(serverSigner, descriptorCodec, other);
          return drawnBufferCodec.encode({ descriptor: { ...other, endorsements }, slotKeys });
        }),
    },
    {
      name: 'refuses slot keys that the server made up',
      before: 'deposit',
      tell: ({ server }) =>
        changing(server, /\/seats$/, (body) => {
          const { descriptor, slotKeys } = drawnBufferCodec.decode(body);
          return drawnBufferCodec.encode({ descriptor, slotKeys: ownKeys(slotKeys) });
        }),
    },
    {
      name: 'refuses a descriptor of another task',
      before: 'deposit',
      tell: async ({ server, trial }) => {
        const foreign = await seatOfAnotherTask(trial);
        changing(server, /\/seats$/, () => foreign);
      },
    },
    ...slotLies(serverSigner, bufferSize).map((lie): Lie => {
      const telling = tellingSlotLie(lie, bufferSize);
      return {
        name: `refuses a server that ${lie.name}`,
        before: 'upload',
        isAboutOthers: true,
        tell: ({ server }) => {
          server.onAnswer = telling;
        },
      };
    }),
    ...keyLies(),
    ...councilLies(),
    ...shotLies(),
  ];
}

/** Signed by the same authority, for the same server: only the policy is another. */
async function seatOfAnotherTask(trial: ClientTrial): Promise<Uint8Array> {
  let seat: Uint8Array = new Uint8Array();
  await trial.scene({ level: 2 ** 12 }, async (scene) => {
    await scene.peer(0, scene.server.url);
    seat = scene.server.passed.find(({ asked }) => isStep('seat', asked))?.answer.body ?? seat;
  });
  return seat;
}

/** As many keys, whose secrets the liar has. */
function ownKeys({ length }: Uint8Array): Uint8Array {
  return concatBytes(
    ...Array.from({ length: length / SLOT_KEY_BYTES }, () => nodeSuite.x25519(nodeRandomBytes(32)).publicKey),
  );
}

/** With a nonce of the sender. */
const NEWEST = /\/model-log\/newest\//;

const ORDER: readonly Step[] = ['enrolment', 'seat', 'deposit', 'key', 'upload', 'shot'];

/** The step that a client which believed the lie went on with, if any. */
export function stepAfter({ before }: Lie, asked: readonly Asked[]): Step | undefined {
  return ORDER.slice(ORDER.indexOf(before)).find((step) => asked.some((one) => isStep(step, one)));
}
