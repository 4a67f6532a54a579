/** Enrolment, and what every signed request is held to. */
import { equalBytes, toHex } from '@basa/masking';
import { AUTHORITY_PATH, certificateCodec, hasGoodEndorsements } from '@basa/protocol';
import { createNodeSigner, nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import type { KitTask } from './kit-task.ts';

const HOUR_MS = 3_600_000;

export async function enrolmentChecks(kit: KitTask): Promise<void> {
  const { authority, policy, task } = kit;
  const path = AUTHORITY_PATH.enrolments(task);
  const signer = createNodeSigner(nodeRandomBytes(32));
  const stranger = createNodeSigner(nodeRandomBytes(32));
  const body = JSON.stringify({ token: await kit.token() });

  authority.refuses('an unsigned request is refused', await authority.ask('POST', path, { body }), 'unsigned');
  const elsewhere = await authority.signed('POST', path, { signer, body, audience: policy.serverKey });
  authority.refuses('a request signed for the server is refused', elsewhere, 'request-signature-invalid');
  const damaged = await authority.signed('POST', path, { signer, body: body.replace('t', 'T'), signed: body });
  authority.refuses('a body that was damaged on the way is refused', damaged, 'digest-mismatch');
  const early = await authority.signed('POST', path, { signer, body, aheadMs: 24 * HOUR_MS });
  authority.refuses('a clock that is a day ahead is refused', early, 'clock-skew');
  const isCorrected = /\d{10,}/.test(String(early.json['detail']));
  authority.notes('a wrong clock is told the time', isCorrected, 'milliseconds in detail', early);
  const odd = await authority.signed('POST', path, { signer, body: '{"token":7}' });
  authority.refuses('an enrolment that is not of the documented form is refused', odd, 'malformed');
  const wrong = await authority.signed('POST', path, { signer, body: JSON.stringify({ token: 'no such token' }) });
  authority.refuses('a token that nobody gave out is refused', wrong, 'enrolment-token-invalid');

  const nonce = nodeRandomBytes(16);
  const first = await authority.signed('POST', path, { signer, body, nonce });
  authority.notes('a device enrols with a token', isMine(kit, first.body, signer.publicKey), 'its certificate', first);
  const replayed = await authority.signed('POST', path, { signer, body, nonce });
  authority.refuses('a number that was used before is refused', replayed, 'replayed');
  const again = await authority.signed('POST', path, { signer, body });
  authority.notes('the same device again gets the same certificate', equalBytes(again.body, first.body), 'it', again);
  const second = await authority.signed('POST', path, { signer: stranger, body });
  authority.refuses('a token is good for one device', second, 'enrolment-token-invalid');
}

function isMine({ policy, task }: KitTask, bytes: Uint8Array, deviceKey: Uint8Array): boolean {
  const certificate = certificateCodec.decode(bytes);
  return (
    certificate.endorsements.length === 1 &&
    hasGoodEndorsements(nodeSuite, certificateCodec, policy, certificate) &&
    toHex(certificate.task) === task &&
    equalBytes(certificate.deviceKey, deviceKey)
  );
}
