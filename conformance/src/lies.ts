/**
 * The lies of services that every client must refuse: what the lying service changes, and the code of the refusal. A refused lie leaves no
 * upload behind. What only a signature of an authority could say, such as an epoch key of small order, is in the tests of each client.
 * test/services/conformance.test.ts tells each to the client for Node and to the client in Python.
 */
import { type Signer, toHex } from '@basa/masking';
import { PROBLEM_MEDIA_TYPE, problemDocument } from '@basa/protocol/internal/http/problems.ts';
import { TaskPolicy } from '@basa/protocol/policy';
import { Certificate, type Endorsement, Epoch, ModelStatement, ShownModel } from '@basa/protocol/wire';
import { createNodeSigner, nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { isUpload, Scene } from './scene.ts';
import type { Answer, Asked, ServiceProxy } from './service-proxy.ts';

export interface Lie {
  readonly name: string;
  /** The code that every client refuses it with. */
  readonly refusal: string;
  /** The number of authorities of the task (1). */
  readonly authorities?: number;
  /** The policy of the task, if it is not the usual one. */
  readonly policy?: Partial<TaskPolicy>;
  /** Settings of the client that take the place of the right ones. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The participant whose update the client gives (itself). */
  readonly participant?: number;
  /** Says or does everything up to the run of the client that must end with the refusal. */
  tell(scene: Scene): void | Promise<void>;
}

/** A party that is neither the server nor an authority. */
const STRANGER = createNodeSigner(nodeRandomBytes(32));
const COUNCIL_SIZE = 4;
/** The authorities whose word is forged: the other two are too few. */
const FORGED = [0, 2];
/** The participant whose update is the client's second one. */
const SECOND = 4;
export const LIES: readonly Lie[] = [
  {
    name: 'an authority with another key than the pinned one',
    refusal: 'wrong-authority',
    settings: { BASA_AUTHORITY_KEY: toHex(STRANGER.publicKey) },
    tell: () => undefined,
  },
  {
    name: 'a server with another key than that of the policy',
    refusal: 'wrong-server',
    tell: ({ server }) =>
      changing(server, /\/v1\/server$/, (body) => withJson(body, { publicKey: toHex(STRANGER.publicKey) })),
  },
  {
    name: 'a policy that does not hash to the task',
    refusal: 'wrong-policy',
    tell: ({ authorities: [authority] }) =>
      changing(authority, /\/policy$/, (body) => TaskPolicy.encode({ ...TaskPolicy.decode(body), minimum: 3 })),
  },
  {
    name: 'a certificate that the authority did not sign',
    refusal: 'wrong-certificate',
    tell: ({ authorities: [authority] }) => forgingCertificates(authority),
  },
  {
    name: 'a certificate that too few of four authorities signed',
    refusal: 'wrong-certificate',
    authorities: COUNCIL_SIZE,
    tell: ({ authorities }) => {
      for (const at of FORGED) forgingCertificates(authorities[at], at);
    },
  },
  {
    name: 'an epoch that its authority did not sign, with a key of the server',
    refusal: 'epochs-missing',
    tell: aboutEach((epoch) => {
      const own = { ...epoch, key: nodeSuite.x25519(nodeRandomBytes(32)).publicKey };
      return { ...own, signature: STRANGER.sign(Epoch.statement(own)) };
    }),
  },
  {
    name: 'an epoch of another task',
    refusal: 'epochs-missing',
    tell: async (scene) => {
      const other = await Scene.open(scene.stage, () => ({ ended: Promise.reject(), kill: () => undefined }), {}, 1);
      const [foreign] = (await other.shown()).epochs;
      await other.close();
      aboutEach((epoch) => foreign ?? epoch)(scene);
    },
  },
  {
    name: 'epochs of too few of four authorities',
    refusal: 'epochs-missing',
    authorities: COUNCIL_SIZE,
    tell: (scene) =>
      showing(scene, ({ epochs, ...shown }) => ({ ...shown, epochs: epochs.filter(({ authority }) => authority < 2) })),
  },
  {
    name: 'a model that the server did not sign',
    refusal: 'model-invalid',
    tell: (scene) =>
      showing(scene, ({ statement, ...shown }) => {
        const forged = { ...statement, modelHash: nodeRandomBytes(32) };
        return { ...shown, statement: { ...forged, signature: STRANGER.sign(ModelStatement.statement(forged)) } };
      }),
  },
  {
    name: 'a model of another task',
    refusal: 'model-invalid',
    tell: async (scene) => {
      const other = await Scene.open(scene.stage, () => ({ ended: Promise.reject(), kill: () => undefined }), {}, 1);
      const { statement } = await other.shown();
      await other.close();
      showing(scene, (shown) => ({ ...shown, statement }));
    },
  },
  {
    name: 'other parameters than the server signed',
    refusal: 'model-invalid',
    tell: ({ server }) => changing(server, /\/models\/0$/, flipped),
  },
  {
    name: 'a model again on which the client gave: another update of it is not given',
    refusal: 'version-given',
    participant: SECOND,
    tell: async (scene) => {
      const old = await scene.shown();
      await contributed(scene);
      for (const participant of [0, 2, 3]) await scene.peer(participant);
      await scene.summed();
      showing(scene, () => old);
    },
  },
  {
    name: 'a refusal of an upload that the server may have kept: another update of this version is not given',
    refusal: 'version-given',
    participant: SECOND,
    tell: async (scene) => {
      scene.server.onAnswer = (asked, answer) => (isUpload(asked) ? problemAnswer('epoch-invalid') : answer);
      const { code } = await scene.run();
      if (code === 0) throw new Error('the client takes a refusal for an acknowledgement');
      scene.server.behave();
    },
  },
];

/** Tells a lie. Returns the end of the client, and the number of uploads that it began after the lie. */
export async function told(
  lie: Lie,
  scene: Scene,
): Promise<{ readonly code: number | null; output: string; uploads: number }> {
  await lie.tell(scene);
  const before = scene.uploads.length;
  const end = await scene.run({ participant: lie.participant, settings: lie.settings });
  return { ...end, uploads: scene.uploads.length - before };
}

/** A refusal in the form of a service. */
export function problemAnswer(code: 'epoch-invalid' | 'stopping', retryAfterMs?: number): Answer {
  const document = problemDocument(code, retryAfterMs === undefined ? {} : { retryAfterMs });
  const headers = { 'content-type': PROBLEM_MEDIA_TYPE };
  return { status: document.status, headers, body: Buffer.from(JSON.stringify(document)) };
}

/** Shows another model or other epochs, by themselves and with a place. */
export function showing({ server }: Scene, change: (shown: ShownModel) => ShownModel): void {
  const changed = (body: Uint8Array): Uint8Array => ShownModel.encode(change(ShownModel.decode(body)));
  changing(server, /\/(models\/newest|admissions)$/, (body, { path }) => {
    if (path.endsWith('/newest')) return changed(body);
    const { model } = JSON.parse(new TextDecoder().decode(body)) as { readonly model?: string };
    return model === undefined ? body : withJson(body, { model: toHex(changed(Buffer.from(model, 'hex'))) });
  });
}

function aboutEach(change: (epoch: Epoch) => Epoch): (scene: Scene) => void {
  return (scene) => showing(scene, ({ epochs, ...shown }) => ({ ...shown, epochs: epochs.map(change) }));
}

/** Changes the good answers of these paths. */
function changing(
  proxy: ServiceProxy | undefined,
  path: RegExp,
  change: (body: Uint8Array, asked: Asked) => Uint8Array,
): void {
  if (proxy === undefined) throw new Error('the task has too few authorities for this lie');
  proxy.onAnswer = (asked, answer) =>
    path.test(asked.path) && answer.status === 200 ? { ...answer, body: change(answer.body, asked) } : answer;
}

function forgingCertificates(proxy: ServiceProxy | undefined, authority = 0): void {
  changing(proxy, /\/enrolments$/, (body) => {
    const certificate = Certificate.decode(body);
    return Certificate.encode({ ...certificate, endorsements: signedBy(STRANGER, certificate, authority) });
  });
}

function signedBy(signer: Signer, certificate: Certificate, authority: number): readonly Endorsement[] {
  return [{ authority, signature: signer.sign(Certificate.statement(certificate)) }];
}

async function contributed(scene: Scene): Promise<void> {
  const { code, output } = await scene.run();
  if (code !== 0) throw new Error(`the client did not contribute: ${output}`);
}

function flipped(bytes: Uint8Array): Uint8Array {
  return bytes.map((byte, n) => (n === bytes.length - 1 ? byte ^ 1 : byte));
}

function withJson(body: Uint8Array, change: Readonly<Record<string, unknown>>): Uint8Array {
  const document = JSON.parse(new TextDecoder().decode(body)) as object;
  return new TextEncoder().encode(JSON.stringify({ ...document, ...change }));
}
