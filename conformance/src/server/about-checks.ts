/** Requests that anyone may make, and addresses that do not exist. */
import { fromHex, toHex } from '@basa/masking';
import { AUTHORITY_PATH, HEADER, headCodec, isSigned, SERVER_PATH } from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import type { KitTask } from './kit-task.ts';
import type { Probe, Told } from './probe.ts';

export async function aboutChecks(kit: KitTask): Promise<void> {
  const { server, authority, authorityKey, policy } = kit;
  const about = await server.ask('GET', SERVER_PATH.about);
  const { authorityKeys } = about.json;
  const namesAll =
    Array.isArray(authorityKeys) && policy.authorities.every((key) => authorityKeys.includes(toHex(key)));
  server.notes('the server names itself and its authorities', namesAll, 'publicKey, authorityKeys in hex', about);
  const said = await authority.ask('GET', AUTHORITY_PATH.about);
  const hasHead = hasSignedHead(said, authorityKey);
  authority.notes('the authority answers with a head of its log', hasHead, `${HEADER.head}, signed`, said);
  const nowhere = await authority.ask('GET', '/v1/nowhere');
  authority.notes('also a no of the authority has a head', hasSignedHead(nowhere, authorityKey), 'the same', nowhere);
  await addresses('server', server, SERVER_PATH.about);
  await addresses('authority', authority, AUTHORITY_PATH.about);
}

function hasSignedHead({ headers }: Told, authorityKey: Uint8Array): boolean {
  const bytes = fromHex(headers.get(HEADER.head) ?? '');
  if (bytes === undefined || bytes.length === 0) return false;
  return isSigned(nodeSuite, headCodec, headCodec.decode(bytes), authorityKey);
}

async function addresses(name: string, probe: Probe, about: string): Promise<void> {
  for (const path of ['/v1/health', '/v1/openapi.json']) {
    const told = await probe.ask('GET', path);
    probe.notes(`the ${name} serves ${path}`, told.status === 200, '200', told);
  }
  probe.refuses(`the ${name} knows no other address`, await probe.ask('GET', '/v1/nowhere'), 'not-found');
  probe.refuses(`the ${name} takes no other method`, await probe.ask('DELETE', about), 'method-not-allowed');
  const page = await probe.ask('GET', about, { headers: { origin: 'https://elsewhere.invalid' } });
  probe.refuses(`the ${name} answers no page of another origin`, page, 'origin-refused');
}
