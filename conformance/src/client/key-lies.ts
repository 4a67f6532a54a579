/** Lies about the key of a slot. An envelope with a good signature is beyond the kit: its proxies have no key of the authority's. */
import { abeIssuer, createMclGroup, setup } from '@basa/abe';
import type { AttributeKeyIssuer } from '@basa/masking';
import {
  authorityMessages,
  ENGINE,
  edgeAttribute,
  issuedKeyCodec,
  type KeyAnswer,
  type KeyRequest,
  receiptCodec,
  sealEnvelope,
} from '@basa/protocol';
import { nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import type { ServiceProxy } from '../service-proxy.ts';
import type { Scene } from './client-trial.ts';
import { changing, flipped, type Lie, STRANGER, signedBy } from './lie.ts';

export function keyLies(): readonly Lie[] {
  return [
    {
      name: 'refuses a receipt that the authority did not sign',
      before: 'upload',
      tell: (scene) =>
        changingKeys(scene, (answer) => {
          const { receipt } = answer;
          return { ...answer, receipt: { ...receipt, endorsements: signedBy(STRANGER, receiptCodec, receipt) } };
        }),
    },
    {
      name: 'refuses a key that was damaged in its envelope',
      before: 'upload',
      tell: (scene) => changingKeys(scene, (answer) => ({ ...answer, envelope: flipped(answer.envelope) })),
    },
    {
      name: 'refuses a key that the authority did not give',
      before: 'upload',
      isAboutOthers: true,
      // With slot keys the list would show it too.
      policy: { engine: ENGINE.cpAbe },
      tell: async (scene) => {
        const { keyRequest } = authorityMessages(scene.policy.bufferSize);
        const issuer = await ownIssuer();
        changingKeys(scene, (answer, request) => {
          const { ctx, slot } = request.ticket;
          const key = issuer.issue(edgeAttribute(nodeSuite, ctx, slot));
          const requestDigest = keyRequest.statementHash(nodeSuite, request);
          const sender = { senderSecret: nodeRandomBytes(32), recipient: request.ephemeralKey };
          const envelope = sealEnvelope(nodeSuite, { ...sender, requestDigest, key }) ?? answer.envelope;
          const given = { requestDigest, keyHash: nodeSuite.sha256(key) };
          const issued = { ...given, signature: STRANGER.sign(issuedKeyCodec.statement(given)) };
          return { ...answer, envelope, issued };
        });
      },
    },
  ];
}

/** Keys of the right form for every attribute, of an authority that nobody pinned. */
async function ownIssuer(): Promise<AttributeKeyIssuer> {
  const tools = { group: await createMclGroup(), suite: nodeSuite, randomBytes: nodeRandomBytes };
  return abeIssuer(setup(tools).masterKey, tools);
}

/** At the first authority, or another. */
export function changingKeys(
  { authorities, policy }: Scene,
  change: (answer: KeyAnswer, request: KeyRequest) => KeyAnswer,
  at: number = 0,
): void {
  const { keyAnswer, keyRequest } = authorityMessages(policy.bufferSize);
  changing(authorities[at] as ServiceProxy, /\/keys$/, (body, asked) =>
    keyAnswer.encode(change(keyAnswer.decode(body), keyRequest.decode(asked.body))),
  );
}
