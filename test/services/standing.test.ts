import { toHex } from '@basa/masking';
import { AUTHORITY_PATH, SERVER_PATH } from '@basa/protocol/http';
import { Certificate } from '@basa/protocol/wire';
import { createNodeSigner, nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { askSigned, enrolledDevices } from '@basa/testkit/services/fleet.ts';
import { PAPER, TestServices, type TestServicesOptions, until } from '@basa/testkit/services/test-services.ts';
import { afterEach, describe, expect, it } from 'vitest';

let services: TestServices;
afterEach(() => services.close());

type Enrolled = Awaited<ReturnType<typeof enrolledDevices>>[number];

async function enrolled(): Promise<Enrolled> {
  const [device] = await enrolledDevices(services, 1);
  if (device === undefined) throw new Error('no device');
  return device;
}

/** The code of a problem, or 'ok'. */
async function codeOf(asked: Promise<Response>): Promise<string> {
  const answer = await asked;
  return answer.ok ? 'ok' : ((await answer.json()) as { type: string }).type.replace('urn:basa:problem:', '');
}

async function asking({ device, certificate }: Enrolled, target: string): Promise<Response> {
  return askSigned(services, device, 'server', target, certificate);
}

/** The words of a certificate, signed by somebody who is no authority of the task. */
function forged(certificate: Uint8Array): Uint8Array {
  const real = Certificate.decode(certificate);
  const stranger = createNodeSigner(nodeRandomBytes(32));
  const signature = stranger.sign(Certificate.statement(real));
  return Certificate.encode({ ...real, endorsements: real.endorsements.map((one) => ({ ...one, signature })) });
}

describe.each([
  ['admissions', {}],
  ['unsafePaperConnect', PAPER],
] as const)('at %s', (step, options: TestServicesOptions) => {
  const ask = (who: Enrolled, at = services.task) => codeOf(asking(who, SERVER_PATH[step](at)));

  it('a certificate counts that the authority signed for this task and device, until it is revoked', async () => {
    services = await TestServices.open({ ...options, server: { ...options.server, revocationsMs: 30 } });
    const first = services.task;
    const [mine, other] = [await enrolled(), await enrolled()];
    expect(await ask(mine)).toBe('ok');
    expect(await ask({ ...other, certificate: forged(other.certificate) })).toBe('certificate-invalid');
    expect(await ask({ ...other, certificate: mine.certificate })).toBe('not-yours');
    const revoked = await enrolled();
    const user = toHex(nodeSuite.sha256(revoked.device.deviceKey));
    await services.operate(services.authority.url, 'POST', AUTHORITY_PATH.revocations, { user });
    await until(async () => (await ask(revoked)) === 'revoked');
    await services.createTask();
    const elsewhere = await enrolled();
    expect([await ask(elsewhere, first), await ask(elsewhere)]).toEqual(['certificate-invalid', 'ok']);
  });
});
