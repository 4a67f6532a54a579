/** The log of an authority as a vector: a buffer is drawn and closed, devices are revoked, and the head of a lost life of the log is met. */
import { encodeAuthorityRecord, headCodec, revocationRequestCodec, revocationsCodec } from '@basa/protocol';
import { granted } from '@basa/simulator';
import { nodeFederation } from '../core/tools.ts';
import { slotKeyEngine } from './vector-engines.ts';

export function logVector(): object {
  const world = nodeFederation({ bufferSize: 3, dimension: 4, seed: 44, sealings: slotKeyEngine().sealings });
  const { authority, server, task } = world;
  const [first, second, third] = [world.device(), world.device(), world.device()];
  for (const device of [first, second]) granted(device.contribute());
  granted(third.contribute('key'));
  const verdict = server.finish(third.ctx, 'stalled');
  if (verdict.kind !== 'good') throw new Error(verdict.why);
  for (const { user } of [third, second]) granted(authority.persist(authority.core.revoke(user, world.now)));
  granted(authority.persist(authority.core.meetHead(authority.lostLife().head(), world.randomBytes(16), world.now)));
  const asked = { task, after: 1 };
  const request = { ...asked, signature: server.ports.signer.sign(revocationRequestCodec.statement(asked)) };
  return {
    authorityKey: hex(authority.publicKey),
    serverKey: hex(server.ports.signer.publicKey),
    task: hex(task),
    records: authority.log.map((entry) => hex(encodeAuthorityRecord(entry))),
    head: hex(headCodec.encode(authority.core.head())),
    revocationRequest: hex(revocationRequestCodec.encode(request)),
    revocations: hex(revocationsCodec.encode(granted(authority.core.revocations(request).answer))),
  };
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
