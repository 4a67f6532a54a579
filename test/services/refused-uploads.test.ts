/** Uploads that are not what they should be: each refused with its reason, and nothing of the server changes. */
import { join } from 'node:path';
import type { JoinTag, UserId } from '@basa/protocol';
import { HEADER, type ProblemCode } from '@basa/protocol/http';
import { type ShotHeader, ShotUpload } from '@basa/protocol/wire';
import { createNodeSigner, nodeRandomBytes } from '@basa/runtime/node';
import {
  type HeldUpload,
  headersFor,
  holdUpload,
  otherBody,
  otherHeader,
  type Sent,
  send,
  sendRaw,
} from '@basa/testkit/services/held-upload.ts';
import { filesBelow, snapshot } from '@basa/testkit/services/snapshot.ts';
import { TestServices, until } from '@basa/testkit/services/test-services.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';

/** After this, no epoch of now is open. */
const EPOCHS_MS = 3 * 3_600_000;
const STRANGER = createNodeSigner(nodeRandomBytes(32));
let services: TestServices;
let upload: HeldUpload;
let other: HeldUpload;

beforeAll(async () => {
  // Nothing that the server does by the clock comes between two looks at the store.
  const never = 3_600_000;
  const server = { tickMs: never, revocationsMs: never };
  services = await TestServices.open({ policy: { bufferSize: 4 }, server });
  upload = await holdUpload(services, 0);
  other = await holdUpload(services, 1);
  await send(services, upload, { method: 'HEAD' }); // from now on it is expected
});
afterAll(() => services.close());

const flipped = (bytes: Uint8Array): Uint8Array => bytes.map((byte, n) => (n === 3 ? byte ^ 1 : byte));

/** The upload of the device under a header with other words, which it signs. */
const renamed = (change: Partial<ShotHeader>): Sent => ({
  ...otherHeader(services, upload, change),
  body: upload.body.subarray(0, 9),
});
const STRANGE = new Uint8Array(32).fill(7);

/** What is wrong with an upload, and the refusal. */
const TABLE: readonly (readonly [what: string, status: number, code: ProblemCode, sent: () => Sent])[] = [
  [
    'a body that is shorter than the signed one',
    401,
    'request-signature-invalid',
    () => ({ body: upload.body.subarray(0, 9), signed: upload.body }),
  ],
  [
    'a body that is longer than the task allows',
    413,
    'body-too-large',
    () => ({ body: Buffer.concat([upload.body, Buffer.alloc(1)]) }),
  ],
  ...['-1', '1e3', '0x10', ' ', '9'.repeat(16)].map(
    (offset) =>
      [
        `a piece that starts at "${offset}"`,
        400,
        'malformed',
        () => ({ body: upload.body, headers: { [HEADER.uploadOffset]: offset } }),
      ] as const,
  ),
  [
    'a body that was damaged on the way',
    400,
    'digest-mismatch',
    () => ({ body: flipped(upload.body), signed: upload.body }),
  ],
  ['a body that its own device changed after signing', 422, 'body-mismatch', () => ({ body: flipped(upload.body) })],
  [
    'a signature that is none',
    401,
    'request-signature-invalid',
    () => ({ headers: { [HEADER.signature]: '00'.repeat(64) } }),
  ],
  ['a request of another enrolled device', 403, 'not-yours', () => ({ signer: other.signer })],
  ['a request of a stranger', 403, 'not-yours', () => ({ signer: STRANGER })],
  [
    "another device's own upload at this address",
    400,
    'malformed',
    () => ({ signer: other.signer, header: other.header }),
  ],
  ['the address of another upload', 400, 'malformed', () => ({ target: other.target })],
  [
    'the address of no upload',
    400,
    'malformed',
    () => ({ target: upload.target.replace(upload.name, 'ab'.repeat(32)) }),
  ],
  [
    'the address of no task',
    404,
    'task-unknown',
    () => ({ target: upload.target.replace(services.task, 'ab'.repeat(32)) }),
  ],
  [
    'a header that another key signed',
    403,
    'signature-invalid',
    () => ({ ...otherHeader(services, { ...other, signer: upload.signer }, {}), signer: other.signer }),
  ],
  ['a model that the server did not sign', 422, 'model-unknown', () => renamed({ model: STRANGE })],
  ['an epoch of nobody', 422, 'epoch-invalid', () => renamed({ epochs: [{ authority: 0, statement: STRANGE }] })],
  ['no epoch', 422, 'epoch-invalid', () => renamed({ epochs: [] })],
  ['the name of another user', 403, 'not-yours', () => renamed({ user: STRANGE as UserId })],
  [
    'a certificate that no authority signed',
    403,
    'certificate-invalid',
    () => {
      const { certificate, ...rest } = ShotUpload.decode(other.header);
      const header = ShotUpload.encode({ ...rest, certificate: { ...certificate, endorsements: [] } });
      return { header, target: other.target, signer: other.signer };
    },
  ],
];

it.each(TABLE)('%s is refused, and the server is as it was', async (_, status, code, sent) => {
  const before = snapshot(services);
  expect(await send(services, upload, sent())).toMatchObject({ status, code });
  expect(snapshot(services)).toEqual(before);
});

it('a body without a length is refused', async () => {
  const longer = Buffer.concat([upload.body, Buffer.alloc(1)]);
  const before = snapshot(services);
  const answer = await sendRaw(services, upload, { body: longer, headers: { 'transfer-encoding': 'chunked' } }, [
    `${longer.length.toString(16)}\r\n`,
    longer,
    '\r\n0\r\n\r\n',
  ]);
  expect(answer).toContain('urn:basa:problem:malformed');
  expect(snapshot(services)).toEqual(before);
});

it('a body that is declared longer than the task allows is refused before a byte of it is sent', async () => {
  const [{ length }, offset] = [upload.body, 10];
  const answer = (bytes: number, at: number) =>
    sendRaw(
      services,
      upload,
      {
        body: upload.body,
        offset: at,
        length: bytes,
        headers: { expect: '100-continue', 'content-length': String(bytes) },
      },
      [],
    );
  for (const [bytes, at] of [
    [length + 1, 0],
    [length - offset + 1, offset],
    [2 ** 40, 0],
  ] as const) {
    const text = await answer(bytes, at);
    expect(text).toContain('urn:basa:problem:body-too-large');
    expect(text).not.toContain('100 Continue');
  }
});

it('a body that is cut off leaves nothing behind', async () => {
  const before = snapshot(services);
  const headers = { 'content-length': String(upload.body.length) };
  // A short body waits in memory until it is whole.
  let looks = 0;
  const isLongEnough = (): boolean => ++looks > 10;
  await sendRaw(services, upload, { body: upload.body, headers }, [upload.body.subarray(0, 20)], isLongEnough);
  await until(() => filesBelow(join(services.folder, 'server', 'blobs', 'incoming')).length === 0);
  expect(snapshot(services)).toEqual(before);
});

it('a request without a signature is refused', async () => {
  const headers = headersFor(services, upload, { body: upload.body });
  delete headers[HEADER.signature];
  const before = snapshot(services);
  const url = new URL(upload.target, services.server.url);
  const response = await fetch(url, { method: 'PUT', headers, body: upload.body.slice() });
  expect(await response.json()).toMatchObject({ status: 401, type: 'urn:basa:problem:unsigned' });
  expect(snapshot(services)).toEqual(before);
});

it('an upload that is not authorised, or too late, is refused before its body is sent', async () => {
  const before = snapshot(services);
  const headers = { expect: '100-continue', 'content-length': String(other.body.length) };
  const stranger = { body: other.body, headers, signer: upload.signer };
  const early = await sendRaw(services, other, stranger, []);
  expect(early).toContain('urn:basa:problem:not-yours');
  expect(early).not.toContain('100 Continue');
  services.elapse(EPOCHS_MS);
  const late = await sendRaw(services, other, { body: other.body, headers }, []);
  expect(late).toContain('urn:basa:problem:epoch-over');
  expect(late).not.toContain('100 Continue');
  // Without asking first, the answer comes while the sender still waits to send.
  const { expect: _, ...plain } = headers;
  expect(await sendRaw(services, other, { body: other.body, headers: plain }, [])).toContain(
    'urn:basa:problem:epoch-over',
  );
  services.elapse(-EPOCHS_MS);
  expect(snapshot(services)).toEqual(before);
});

it('a client that asks before sending is told to continue once the header was judged', async () => {
  const third = await holdUpload(services, 2);
  const headers = { expect: '100-continue', 'content-length': String(third.body.length) };
  const answer = await sendRaw(services, third, { body: third.body, headers }, [third.body]);
  expect(answer).toMatch(/^HTTP\/1.1 100 Continue[\s\S]*"accepted":true/);
});

it('an upload is accepted once: the same again gets the same answer; other bytes, other senders and replays are refused', async () => {
  const headers = headersFor(services, upload, { body: upload.body });
  const url = new URL(upload.target, services.server.url);
  const first = await fetch(url, { method: 'PUT', headers, body: upload.body.slice() });
  const said = { received: upload.body.length, accepted: true };
  expect(await first.json()).toEqual(said);
  const before = snapshot(services);
  const replay = await fetch(url, { method: 'PUT', headers, body: upload.body.slice() });
  expect(await replay.json()).toMatchObject({ status: 401, type: 'urn:basa:problem:replayed' });
  expect((await send(services, upload)).answer).toEqual(said);
  expect((await send(services, upload, { method: 'HEAD' })).offset).toBe(upload.body.length);
  expect(snapshot(services)).toEqual(before);
  for (const signer of [other.signer, STRANGER])
    expect(await send(services, upload, { signer })).toMatchObject({ code: 'not-yours' });
  const body = flipped(upload.body);
  expect(await send(services, upload, otherBody(services, upload, body))).toMatchObject({ code: 'upload-differs' });
  const again = otherHeader(services, upload, { joinTag: STRANGE.slice(16) as JoinTag });
  expect(await send(services, upload, again)).toMatchObject({ status: 409, code: 'version-given' });
  expect(snapshot(services)).toEqual(before);
});
