/** A device that the operator revokes is refused by all services: by authorities at once, by the server within a while. */
import { setTimeout as sleep } from 'node:timers/promises';
import { toHex } from '@basa/masking';
import { AUTHORITY_PATH, certificateCodec, problemDocument, SERVER_PATH, seatRequestCodec } from '@basa/protocol';
import { createNodeSigner, nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { certificateFor, type KitTask } from './kit-task.ts';

/** A server looks every ten seconds unless it is told otherwise. */
const PATIENCE_MS = 60_000;
const PAUSE_MS = 500;

export async function revocationChecks(kit: KitTask): Promise<void> {
  const { authority, server, operators, task, token, signal } = kit;
  const signer = createNodeSigner(nodeRandomBytes(32));
  const certificate = certificateCodec.decode(await certificateFor(kit, signer));
  const body = seatRequestCodec.encode({ certificate, version: 0, modelHash: new Uint8Array(32) });
  const seat = () => server.signed('POST', SERVER_PATH.seats(task), { signer, body });
  await operators.authority.revoke(toHex(nodeSuite.sha256(signer.publicKey)));
  const again = await authority.signed('POST', AUTHORITY_PATH.enrolments(task), {
    signer,
    body: JSON.stringify({ token: await token() }),
  });
  authority.refuses('a revoked device gets no certificate, whatever its token', again, 'revoked');
  const { type } = problemDocument('revoked');
  let told = await seat();
  for (const end = Date.now() + PATIENCE_MS; told.json['type'] !== type && Date.now() < end; told = await seat())
    await sleep(PAUSE_MS, undefined, { signal });
  server.refuses('a revoked device gets no seat within a minute', told, 'revoked');
}
