/** The end of a buffer: its sum is exact, its outcome is signed, and a device that comes late is told so. */
import { fromHex, toHex } from '@basa/masking';
import { AUTHORITY_PATH, agreedOutcome, type Ctx, certificateCodec, outcomeCodec, SERVER_PATH } from '@basa/protocol';
import { createNodeSigner, nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { firstDifference } from '../exact-updates.ts';
import { until } from '../until.ts';
import { depositCodec, signedDeposit } from './deposits.ts';
import { certificateFor, type KitDevice, type KitTask } from './kit-task.ts';
import type { Told } from './probe.ts';

/** All slots are accepted; participants are numbered by slot. */
export async function closingChecks(kit: KitTask, devices: readonly KitDevice[], ctx: string): Promise<void> {
  const { server, authorities, authority, operators, policy, report, signal, task } = kit;
  await until(async () => ((await operators.server.task(task)).version ?? 0) >= 1, signal);
  const participants = devices.map((_, n) => n);
  const problem = firstDifference(await operators.server.parameters(task, 1), participants, policy);
  report.note('the sum is exact', problem === undefined, {
    expected: `the sum of ${devices.length} updates, clipped, to the last entry`,
    seen: problem ?? 'it',
  });
  const told = await Promise.all(authorities.map((each) => each.ask('GET', AUTHORITY_PATH.outcome(ctx))));
  const outcomes = told.map(({ body }, n) => ({ authority: n, outcome: outcomeCodec.decode(body) }));
  const outcome = agreedOutcome(nodeSuite, policy, (fromHex(ctx) ?? new Uint8Array()) as Ctx, outcomes);
  const isClosed = outcome?.status === 'closed' && outcome.accepted.length === devices.length;
  const said = `closed, with all slots, by ${policy.threshold} of ${authorities.length}`;
  authority.notes('the outcome is signed and names every slot', isClosed, said, told[0] as Told);
  const [first] = outcome?.accepted ?? [];
  const fate = await server.ask('GET', SERVER_PATH.fate(ctx, first?.joinTag ?? ''));
  server.notes('the server says what became of an update', fate.json['fate'] === 'included', 'included', fate);
  const shown = await server.ask('GET', SERVER_PATH.buffer(ctx));
  server.refuses('a buffer is shown to operators only', shown, 'operator-token-missing');
  const state = await server.operate('GET', SERVER_PATH.buffer(ctx));
  server.notes('an operator sees the buffer', state.json['status'] === 'included', 'status included', state);

  server.refuses(
    'a deposit for a buffer that has ended is refused',
    await lateDeposit(kit, devices),
    'buffer-not-open',
  );
  const unknown = await authority.ask('GET', AUTHORITY_PATH.outcome(toHex(nodeRandomBytes(32))));
  const isUnknown = unknown.status === 200 && outcomeCodec.decode(unknown.body).status === 'unknown';
  authority.notes('the outcome of no buffer is unknown', isUnknown, 'a signed "unknown"', unknown);
}

/** Of somebody enrolled, well-formed and signed, but too late. */
async function lateDeposit(kit: KitTask, [device]: readonly KitDevice[]): Promise<Told> {
  const { server, policy } = kit;
  if (device === undefined) throw new Error('the kit has no device');
  const signer = createNodeSigner(nodeRandomBytes(32));
  const body = await certificateFor(kit, signer);
  const { asked } = device.said('deposit');
  const codec = depositCodec(policy, device);
  const late = { ...codec.decode(asked.body), certificate: certificateCodec.decode(body) };
  return server.signed('POST', asked.path, { signer, body: codec.encode(signedDeposit(late, signer)) });
}

/** Paused, as the kit leaves its task. */
export async function pauseChecks({ server, task, operators }: KitTask, device: KitDevice): Promise<void> {
  await operators.server.setState(task, 'paused');
  const { asked } = device.said('seat');
  const told = await server.signed('POST', asked.path, { signer: device.signer, body: asked.body });
  server.refuses('a paused task gives no seats', told, 'task-paused');
}

/** Twice the default burst of our services. */
const MAX_ASKED = 120;

/** A sender of too many requests is told when to come back; if there is no limit, every answer is the same refusal. */
export async function limitChecks({ authority, task }: KitTask): Promise<void> {
  const signer = createNodeSigner(nodeRandomBytes(32));
  const path = AUTHORITY_PATH.enrolments(task);
  const body = JSON.stringify({ token: 'no such token' });
  let last = await authority.signed('POST', path, { signer, body });
  for (let n = 1; n < MAX_ASKED && last.status === 403; n++)
    last = await authority.signed('POST', path, { signer, body });
  if (last.status === 403) authority.refuses('asking often is answered', last, 'enrolment-token-invalid');
  else {
    authority.refuses('asking too often is refused', last, 'rate-limited');
    const isTold = Number(last.headers.get('retry-after')) > 0;
    authority.notes('who asked too often is told when to come back', isTold, 'Retry-After', last);
  }
}
