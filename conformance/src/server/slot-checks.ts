/** Seats, deposits and keys: what a real client said is said again, by others and with changes. */
import { equalBytes, fromHex } from '@basa/masking';
import {
  AUTHORITY_PATH,
  authorityMessages,
  type Certificate,
  certificateCodec,
  type Deposit,
  drawnBufferCodec,
  isDrawn,
  SERVER_PATH,
  seatRequestCodec,
} from '@basa/protocol';
import { createNodeSigner, nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { depositCodec, signedDeposit } from './deposits.ts';
import type { KitDevice, KitTask } from './kit-task.ts';
import type { Probe } from './probe.ts';

const NOBODY = 'ab'.repeat(32);

type Speaker = Pick<KitDevice, 'signer' | 'said' | 'authorityOf'>;

/** After the first sum: the version that the device asked with may be over, and it asks again with the newest. */
export async function seatChecks({ server, policy, report }: KitTask, device: KitDevice): Promise<void> {
  const { signer } = device;
  const { asked, answer } = device.said('seat');
  const { path } = asked;
  const { version, hash } = await device.client.model();
  const { certificate } = seatRequestCodec.decode(asked.body);
  const modelHash = fromHex(hash) as Uint8Array;
  const seatRequest = (own: Certificate): Uint8Array =>
    seatRequestCodec.encode({ certificate: own, version, modelHash });
  const body = seatRequest(certificate);
  const { descriptor } = drawnBufferCodec.decode(answer.body);
  report.note('a buffer is signed by every authority that has a part in it', isDrawn(nodeSuite, policy, descriptor), {
    expected: `parts of at least ${policy.threshold} authorities, each with its signature`,
    seen: `${descriptor.parts.length} parts, ${descriptor.endorsements.length} signatures`,
  });
  const again = await server.signed('POST', path, { signer, body });
  const isSeated = again.status === 200 && again.body.length === answer.body.length;
  server.notes('a device may ask for its seat again', isSeated, 'a descriptor', again);
  server.refuses('a seat for nobody is refused', await server.ask('POST', path, { body }), 'unsigned');
  const stranger = createNodeSigner(nodeRandomBytes(32));
  const stolen = await server.signed('POST', path, { signer: stranger, body });
  server.refuses("another's certificate is refused", stolen, 'not-yours');
  const own = { ...certificate, deviceKey: stranger.publicKey };
  const forged = seatRequest({
    ...own,
    endorsements: [{ authority: 0, signature: stranger.sign(certificateCodec.statement(own)) }],
  });
  const made = await server.signed('POST', path, { signer: stranger, body: forged });
  server.refuses('a certificate that the authority did not sign is refused', made, 'certificate-invalid');
  const few = seatRequest({ ...certificate, endorsements: certificate.endorsements.slice(1, policy.threshold) });
  const weak = await server.signed('POST', path, { signer, body: few });
  server.refuses('a certificate with a signature too few is refused', weak, 'certificate-invalid');
  const cut = await server.signed('POST', path, { signer, body: body.subarray(0, -1) });
  server.refuses('a request for a seat that is cut short is refused', cut, 'malformed');
  const unknown = seatRequestCodec.encode({ certificate, version, modelHash: nodeRandomBytes(32) });
  const invented = await server.signed('POST', path, { signer, body: unknown });
  server.refuses('a seat for a model that nobody logged is refused', invented, 'version-over');
  const nowhere = await server.signed('POST', SERVER_PATH.seats(NOBODY), { signer, body });
  server.refuses('a seat in no task is refused', nowhere, 'task-unknown');
}

export async function depositChecks({ server, policy }: KitTask, device: Speaker): Promise<void> {
  const { signer } = device;
  const { asked, answer } = device.said('deposit');
  const { path, body } = asked;
  const again = await server.signed('POST', path, { signer, body });
  server.notes('the same deposit again gets the same answer', equalBytes(again.body, answer.body), 'it', again);
  const codec = depositCodec(policy, device);
  const deposit = codec.decode(body);
  const send = (changed: Deposit) => server.signed('POST', path, { signer, body: codec.encode(changed) });
  const second = await send(signedDeposit({ ...deposit, nonce: nodeRandomBytes(16) }, signer));
  server.refuses('a second deposit of a user is refused', second, 'second-deposit');
  const unsigned = await send({ ...deposit, signature: nodeRandomBytes(64) });
  server.refuses('a deposit that its user did not sign is refused', unsigned, 'signature-invalid');
  const entries = deposit.entries.map((entry) => ({ ...entry, commitment: nodeRandomBytes(32) }));
  server.refuses('a root that is not of the seeds is refused', await send({ ...deposit, entries }), 'root-mismatch');
  const cut = await server.signed('POST', path, { signer, body: body.subarray(0, -1) });
  server.refuses('a deposit that is cut short is refused', cut, 'malformed');
  const long = server.signed('POST', path, { signer, body: new Uint8Array(1 << 20) });
  await server.refusesLong('a deposit without end is refused', long);
  const stolen = await server.signed('POST', path, { signer: createNodeSigner(nodeRandomBytes(32)), body });
  server.refuses("another's deposit is refused", stolen, 'not-yours');
  const nowhere = await server.signed('POST', SERVER_PATH.deposits(NOBODY), { signer, body });
  server.refuses('a deposit in no buffer is refused', nowhere, 'buffer-unknown');
}

/** At an authority that answered the device. */
export async function keyChecks({ authorities, policy }: KitTask, device: Speaker): Promise<void> {
  const { signer } = device;
  const authority = authorities[device.authorityOf('key')] as Probe;
  const { asked, answer } = device.said('key');
  const { path, body } = asked;
  const again = await authority.signed('POST', path, { signer, body });
  authority.notes('the same key request again gets the same answer', equalBytes(again.body, answer.body), 'it', again);
  const { keyRequest } = authorityMessages(policy.bufferSize);
  const other = { ...keyRequest.decode(body), ephemeralKey: nodeRandomBytes(32) };
  const resigned = keyRequest.encode({ ...other, signature: signer.sign(keyRequest.statement(other)) });
  const second = await authority.signed('POST', path, { signer, body: resigned });
  authority.refuses('another request for a slot whose key was issued is refused', second, 'slot-registered');
  const forged = keyRequest.encode({ ...other, signature: nodeRandomBytes(64) });
  const unsigned = await authority.signed('POST', path, { signer, body: forged });
  authority.refuses('a key request that its user did not sign is refused', unsigned, 'signature-invalid');
  const cut = await authority.signed('POST', path, { signer, body: body.subarray(0, -1) });
  authority.refuses('a key request that is cut short is refused', cut, 'malformed');
  const long = authority.signed('POST', path, { signer, body: new Uint8Array(1 << 17) });
  await authority.refusesLong('a key request without end is refused', long);
  const stolen = await authority.signed('POST', path, { signer: createNodeSigner(nodeRandomBytes(32)), body });
  authority.refuses("another's key request is refused", stolen, 'not-yours');
  const nowhere = await authority.signed('POST', AUTHORITY_PATH.keys(NOBODY), { signer, body });
  authority.refuses('a key in no buffer is refused', nowhere, 'buffer-unknown');
}
