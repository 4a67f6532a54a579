/** The common behaviour of several authorities: the policy, the words of a certificate, and offers only for the server. */
import { equalBytes } from '@basa/masking';
import { AUTHORITY_PATH, certificateCodec, encodePolicy, offerRequestCodec, type TaskId } from '@basa/protocol';
import { createNodeSigner, nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import type { KitTask } from './kit-task.ts';

const DAY_MS = 86_400_000;

export async function councilChecks({ authorities, policy, task, token }: KitTask): Promise<void> {
  const bytes = encodePolicy(policy);
  const signer = createNodeSigner(nodeRandomBytes(32));
  const own = await token();
  const path = AUTHORITY_PATH.enrolments(task);
  let words: Uint8Array | undefined;
  let like: { readonly issuedAt: number; readonly notAfter: number } | undefined;
  for (const [n, authority] of authorities.entries()) {
    const name = `authority ${n + 1}`;
    const shown = await authority.ask('GET', AUTHORITY_PATH.policy(task));
    authority.notes(`${name} shows the policy, byte for byte`, equalBytes(shown.body, bytes), 'the policy', shown);
    if (like !== undefined) {
      const longer = JSON.stringify({ token: own, like: { ...like, notAfter: like.notAfter + 365 * DAY_MS } });
      const refused = await authority.signed('POST', path, { signer, body: longer });
      authority.refuses(`${name} signs no certificate that holds a year longer`, refused, 'malformed');
    }
    const asked = JSON.stringify({ token: own, ...(like && { like }) });
    const told = await authority.signed('POST', path, { signer, body: asked });
    const certificate = certificateCodec.decode(told.body);
    words ??= certificateCodec.statement(certificate);
    like ??= { issuedAt: certificate.issuedAt, notAfter: certificate.notAfter };
    const isSame = equalBytes(certificateCodec.statement(certificate), words);
    authority.notes(`${name} signs the words of the first`, isSame, 'the same certificate but for its signature', told);
    const wanted = { task: nodeSuite.sha256(bytes) as TaskId };
    const request = { ...wanted, signature: signer.sign(offerRequestCodec.statement(wanted)) };
    const offered = await authority.ask('POST', AUTHORITY_PATH.offers, { body: offerRequestCodec.encode(request) });
    authority.refuses(`${name} offers no part to anybody but the server`, offered, 'server-unknown');
  }
}
