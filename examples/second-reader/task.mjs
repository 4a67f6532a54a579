// The operator's part: makes a task of a policy that this reader encodes itself, and tokens for its devices.
import { must, sha256, zeros } from './bytes.mjs';
import { Device } from './device.mjs';
import { Service } from './http.mjs';
import * as layouts from './layouts.mjs';

/** @param {{ name: string, engine: number, K: number, Kmin: number, d: number, group: number, level: number, t: number }} wanted */
export async function makeTask(services, wanted) {
  const policy = layouts.policy.encode({
    authorities: { keys: services.authorities.map((one) => one.publicKey), t: wanted.t, unsafeThreshold: 0 },
    clip: 1,
    blockFloor: 0,
    staleness: { kind: 1, exponent: 0.5 },
    maxStaleness: 15,
    unsafeTinyWeights: 0,
    metrics: [{ name: 'loss', low: 0, high: 5 }],
    privacy: { kind: 0 },
    manifest: zeros(32),
    training: { epochs: 1, batch: 10, rate: 0.1, loss: 0 },
    server: services.server.publicKey,
    uploadLeaseMs: 600_000,
    openMs: 600_000,
    closeMs: 600_000,
    ...wanted,
  });
  const task = sha256(policy);
  const { token } = services;
  for (const { url } of services.authorities) {
    const said = await new Service(url).ask('POST', '/v1/tasks', { token, body: policy });
    must(said.task === task.toString('hex'), 'another name of the task');
  }
  const json = {
    policy: policy.toString('hex'),
    mode: 'sealed',
    serverStep: { kind: 'fedbuff', rate: 1, damping: 1 },
    admission: { places: 1000 },
    stallMs: 300,
  };
  await new Service(services.server.url).ask('POST', '/v1/tasks', { token, json });
  return task;
}

async function enrolmentTokens(services, task, count) {
  const target = `/v1/tasks/${task.toString('hex')}/enrolment-tokens`;
  const endsAt = Date.now() + 3_600_000;
  let tokens;
  for (const { url } of services.authorities) {
    const json = tokens ? { tokens, endsAt } : { count, endsAt };
    tokens = (await new Service(url).ask('POST', target, { token: services.token, json })).tokens;
  }
  return tokens;
}

/** Devices with keys of their own, connected and enrolled. */
export async function enrolledDevices(services, task, count) {
  const tokens = await enrolmentTokens(services, task, count);
  return Promise.all(
    tokens.map(async (token) => {
      const device = new Device({
        task,
        server: new Service(services.server.url, services.server.publicKey, false),
        authorities: services.authorities.map((one) => new Service(one.url, one.publicKey, true)),
      });
      await device.connect();
      await device.enrol(token);
      return device;
    }),
  );
}
