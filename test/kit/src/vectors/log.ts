/** The log of an authority as a vector: a batch is opened, devices are revoked, and the head of a lost life of the log is met. */
import { encodeAuthorityRecord, headCodec, revocationRequestCodec, revocationsCodec, sumPlan } from '@basa/protocol';
import { granted } from '@basa/simulator';
import { ShotWorld } from '../core/one-shot/shot-world.ts';

export function logVector(): object {
  const world = new ShotWorld({ count: 1, dimension: 4, minimum: 2, seed: 44 });
  const { server, task, federation } = world;
  const { base } = world.authority(0);
  const devices = world.contributed(2);
  granted(server.inspectBy(0, server.shots));
  const batch = server.batch();
  const plan = sumPlan(server.closing(batch), batch.number) ?? [];
  for (const { wanted } of plan) granted(server.releaseBy(0, batch, { votes: server.votes(batch), wanted }));
  for (const { own } of devices) granted(base.persist(base.core.revoke(own.user, world.now)));
  granted(base.persist(base.core.meetHead(base.lostLife().head(), world.randomBytes(16))));
  const asked = { task, after: 1 };
  const { signer } = federation.server.ports;
  const request = { ...asked, signature: signer.sign(revocationRequestCodec.statement(asked)) };
  return {
    authorityKey: hex(base.publicKey),
    serverKey: hex(signer.publicKey),
    task: hex(task),
    records: base.log.map((entry) => hex(encodeAuthorityRecord(entry))),
    head: hex(headCodec.encode(base.core.head())),
    revocationRequest: hex(revocationRequestCodec.encode(request)),
    revocations: hex(revocationsCodec.encode(granted(base.core.revocations(request).answer))),
  };
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
