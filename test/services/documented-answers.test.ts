/** Answers that clients in any language rely on: enrolments, policies, heads, statements, the headers of uploads. */
import { signingDevice } from '@basa/conformance/signing-device.ts';
import { fromHex, toHex } from '@basa/masking';
import {
  AUTHORITY_PATH,
  certificateCodec,
  encodePolicy,
  enrolmentProof,
  hasGoodEndorsements,
  isEpochOf,
  isSigned,
  modelStatementCodec,
  problemCodeOf,
  SERVER_PATH,
  type ShotUpload,
  shotUploadCodec,
  shownModelCodec,
} from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import { type HeldUpload, holdUpload, otherHeader, send } from '@basa/testkit/services/held-upload.ts';
import { oneHot, READER, TestServices } from '@basa/testkit/services/test-services.ts';
import { OPERATOR_TOKEN } from '@basa/testkit/world/operator.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let services: TestServices;
beforeAll(async () => {
  services = await TestServices.open();
});
afterAll(() => services.close());

interface Told {
  readonly code: string | undefined;
  readonly body: Uint8Array;
  readonly headers: Headers;
}

async function told(asked: Promise<Response>): Promise<Told> {
  const { headers, status, ...response } = await asked.then(async (answer) => ({
    headers: answer.headers,
    status: answer.status,
    body: new Uint8Array(await answer.arrayBuffer()),
  }));
  const isProblem = headers.get('content-type')?.startsWith('application/problem+json') === true;
  const code = isProblem ? problemCodeOf(JSON.parse(new TextDecoder().decode(response.body))) : undefined;
  return { headers, code: status < 400 ? undefined : code, body: response.body };
}

type Device = ReturnType<typeof signingDevice>;

/** By the authority. */
function signed(device: Device, method: 'GET' | 'POST', target: string, body = ''): Promise<Told> {
  const { authority } = services;
  const words = { audience: authority.publicKey, method, target, body, at: services.clock() };
  const headers = { ...device.headers(words), ...(body !== '' && { 'content-type': 'application/json' }) };
  return told(fetch(authority.url + target, { method, headers, ...(body !== '' && { body }) }));
}

const enrol = (device: Device, asked: object) =>
  signed(device, 'POST', AUTHORITY_PATH.enrolments(services.task), JSON.stringify(asked));

/** The proof that a new device shows the authority. */
async function freshProof(): Promise<string> {
  const token = fromHex(await services.token()) as Uint8Array;
  return toHex(enrolmentProof(nodeSuite, token, services.authority.publicKey));
}

describe('an enrolment', () => {
  it('gives a device one certificate, and a token counts for one device', async () => {
    const [device, stranger] = [signingDevice(), signingDevice()];
    const proof = await freshProof();
    expect(await enrol(device, { proof: 7 })).toMatchObject({ code: 'malformed' });
    expect(await enrol(device, { proof: 'ff'.repeat(32) })).toMatchObject({ code: 'enrolment-token-invalid' });
    const first = await enrol(device, { proof });
    const certificate = certificateCodec.decode(first.body);
    expect(hasGoodEndorsements(nodeSuite, certificateCodec, services.policy, certificate)).toBe(true);
    expect([toHex(certificate.task), certificate.deviceKey]).toEqual([services.task, device.deviceKey]);
    expect((await enrol(device, { proof })).body).toEqual(first.body);
    expect(await enrol(stranger, { proof })).toMatchObject({ code: 'enrolment-token-invalid' });
  });

  it('is refused to a revoked device, whatever its token', async () => {
    const device = signingDevice();
    const user = toHex(nodeSuite.sha256(device.deviceKey));
    await enrol(device, { proof: await freshProof() });
    await services.operate(services.authority.url, 'POST', AUTHORITY_PATH.revocations, { user });
    expect(await enrol(device, { proof: await freshProof() })).toMatchObject({ code: 'revoked' });
  });
});

describe('an authority', () => {
  const ask = (path: string): Promise<Told> => told(fetch(services.authority.url + path));
  const create = (body: Uint8Array): Promise<Told> => {
    const headers = { authorization: `Bearer ${OPERATOR_TOKEN}`, 'content-type': 'application/octet-stream' };
    return told(fetch(services.authority.url + AUTHORITY_PATH.tasks, { method: 'POST', headers, body: body.slice() }));
  };

  it('shows a policy byte for byte, and takes no other form of it', async () => {
    const bytes = encodePolicy(services.policy);
    expect((await ask(AUTHORITY_PATH.policy(services.task))).body).toEqual(bytes);
    expect(await ask(AUTHORITY_PATH.policy('ab'.repeat(32)))).toMatchObject({ code: 'task-unknown' });
    expect(JSON.parse(new TextDecoder().decode((await create(bytes)).body))).toMatchObject({ task: services.task });
    expect(await create(bytes.subarray(0, -1))).toMatchObject({ code: 'malformed' });
  });
});

it('the server shows its newest model and the open epochs of the authorities, by itself and with a place', async () => {
  const { policy, task } = services;
  const isGood = (body: Uint8Array): boolean => {
    const { statement, epochs } = shownModelCodec.decode(body);
    return (
      isSigned(nodeSuite, modelStatementCodec, statement, policy.serverKey) &&
      epochs.length >= policy.threshold &&
      epochs.every((epoch) => toHex(epoch.task) === task && isEpochOf(nodeSuite, policy, epoch))
    );
  };
  const device = signingDevice();
  const { body } = await enrol(device, { proof: await freshProof() });
  const target = SERVER_PATH.admissions(task);
  const words = { audience: services.server.publicKey, method: 'POST', target, body, at: services.clock() };
  const headers = { ...device.headers(words), 'content-type': 'application/octet-stream' };
  const place = await fetch(services.server.url + target, { method: 'POST', headers, body: body.slice() });
  const { model } = (await place.json()) as { model: string };
  expect(isGood(fromHex(model) ?? new Uint8Array())).toBe(true);
  expect(
    isGood((await told(fetch(services.server.url + SERVER_PATH.newestModel(task), { headers: READER }))).body),
  ).toBe(true);
});

describe('the header of an upload', () => {
  let held: HeldUpload;
  let upload: ShotUpload;
  beforeAll(async () => {
    await services.createTask();
    held = await holdUpload(services, 0);
    upload = shotUploadCodec.decode(held.header);
  });
  const strange = new Uint8Array(32).fill(7);

  it.each([
    ['a model that the server did not sign', 'model-unknown', () => ({ model: strange })],
    ['an epoch of nobody', 'epoch-invalid', () => ({ epochs: [{ authority: 0, statement: strange }] })],
    ['no epoch', 'epoch-invalid', () => ({ epochs: [] })],
    ['another user', 'not-yours', () => ({ user: strange as never })],
  ])('with %s is refused before the body comes', async (_, code, change) => {
    const body = held.body.subarray(0, 9);
    expect(await send(services, held, { ...otherHeader(services, held, change()), body })).toMatchObject({ code });
  });

  it('with a certificate that too few authorities signed is refused', async () => {
    const certificate = { ...upload.certificate, endorsements: [] };
    const header = shotUploadCodec.encode({ ...upload, certificate });
    expect(await send(services, held, { header })).toMatchObject({ code: 'certificate-invalid' });
  });

  it('is known by its name only once the upload has begun', async () => {
    const missing = await fetch(services.server.url + SERVER_PATH.shotFate(services.task, held.name));
    expect(missing.status).toBe(404);
    expect(await send(services, held)).toMatchObject({ status: 200 });
    expect(await services.fate(held.name)).toMatchObject({ fate: 'waiting' });
    for (const place of [1, 2]) {
      const device = await services.client(`other-${place}`);
      await device.contribute(oneHot(place), { trainedOn: 0 });
    }
    await services.reached(1);
    expect(await services.fateIs(held.name, 'included')).toMatchObject({ version: 1 });
  });
});
