/** An upload in pieces: wrong pieces are refused and change nothing; it is accepted once, and repeats get the same answer. */
import { fromHex, SLOT_KEY_BYTES, toHex } from '@basa/masking';
import { authorityMessages, HEADER, type UploadHeader } from '@basa/protocol';
import { createNodeSigner, nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import type { Asked } from '../service-proxy.ts';
import type { KitDevice, KitTask } from './kit-task.ts';
import type { SignedAsking, Told } from './probe.ts';

/** Sends the upload of a device that kept it back. */
export async function uploadChecks(kit: KitTask, { signer }: KitDevice, held: Asked): Promise<void> {
  const { server, policy } = kit;
  const { path, body } = held;
  const header = String(held.headers[HEADER.upload]);
  const put = (offset: number, piece: Uint8Array | undefined, more: Partial<SignedAsking> = {}): Promise<Told> => {
    const headers = { [HEADER.upload]: header, [HEADER.uploadOffset]: String(offset), ...more.headers };
    return server.signed('PUT', path, { signer, body: piece, ...more, headers });
  };
  const standing = async (name: string, expected: number): Promise<void> => {
    const told = await server.signed('HEAD', path, { signer, headers: { [HEADER.upload]: header } });
    const offset = told.headers.get(HEADER.uploadOffset);
    server.notes(name, offset === String(expected), `Upload-Offset: ${expected}`, told);
  };
  const half = body.length >> 1;

  const late = await put(half, body.subarray(half));
  server.refuses('a piece that starts elsewhere is refused', late, 'offset-mismatch');
  const isTold = late.headers.get(HEADER.uploadOffset) === '0';
  server.notes('the right offset is told', isTold, 'Upload-Offset: 0', late);
  const damaged = await put(0, flipped(body), { signed: body });
  server.refuses('a piece that was damaged on the way is refused', damaged, 'digest-mismatch');
  const longer = await put(0, Buffer.concat([body, Buffer.alloc(1)]));
  server.refuses('a body that is too long is refused', longer, 'body-too-large');
  const stolen = await put(0, body, { signer: createNodeSigner(nodeRandomBytes(32)) });
  server.refuses("another's upload is refused", stolen, 'not-yours');
  const forged = await put(0, body, { headers: { [HEADER.upload]: changed({ voids: [] }, nodeRandomBytes(64)) } });
  server.refuses('a header that its user did not sign is refused', forged, 'signature-invalid');
  const { receipt } = decoded();
  const fewer = { ...receipt, endorsements: receipt.endorsements.slice(1, policy.threshold) };
  const unreceipted = await put(0, body, { headers: { [HEADER.upload]: changed({ receipt: fewer }) } });
  server.refuses('a receipt with a signature too few is refused', unreceipted, 'receipt-invalid');
  for (const [what, selfName] of [
    ['without the name of its self seed', new Uint8Array()],
    ['that names a self seed by a point of small order', new Uint8Array(SLOT_KEY_BYTES)],
  ] as const) {
    const nameless = await put(0, body.subarray(0, half), { headers: { [HEADER.upload]: changed({ selfName }) } });
    server.refuses(`a header ${what} is refused`, nameless, 'body-mismatch');
  }
  const headless = await put(0, body, { headers: { [HEADER.upload]: 'no header' } });
  server.refuses('an upload without its header is refused', headless, 'malformed');
  await standing('what is refused leaves an upload where it was', 0);

  const first = await put(0, body.subarray(0, half));
  const isTaken = first.json['received'] === half && first.json['accepted'] === false;
  server.notes('a piece is taken', isTaken, `{ received: ${half}, accepted: false }`, first);
  await standing('an upload is asked where it stands', half);
  const rest = await put(half, body.subarray(half));
  const whole = { received: body.length, accepted: true };
  server.notes('the last piece makes it accepted', saysSo(rest), JSON.stringify(whole), rest);
  const again = await put(body.length, undefined);
  server.notes('the same upload again gets the same answer', saysSo(again), JSON.stringify(whole), again);
  const other = flipped(body);
  const bodyHash = nodeSuite.sha256(other);
  const replaced = await put(0, other, { headers: { [HEADER.upload]: changed({ bodyHash }) } });
  server.refuses('other bytes for the same slot are refused', replaced, 'upload-differs');

  function saysSo({ json }: Told): boolean {
    return json['received'] === whole.received && json['accepted'] === true;
  }
  function decoded(): UploadHeader {
    return authorityMessages(policy.bufferSize).uploadHeader.decode(fromHex(header) as Uint8Array);
  }
  function changed(change: Partial<UploadHeader>, signature?: Uint8Array): string {
    const { uploadHeader } = authorityMessages(policy.bufferSize);
    const made = { ...decoded(), ...change };
    const own = signature ?? signer.sign(uploadHeader.statement(made));
    return toHex(uploadHeader.encode({ ...made, signature: own }));
  }
}

function flipped(bytes: Uint8Array): Uint8Array {
  return bytes.map((byte, n) => (n === 3 ? byte ^ 1 : byte));
}
