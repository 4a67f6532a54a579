/** Plays a client against a server and its authorities, with a task of its own that it leaves paused. */

import { CommandError } from '@basa/cli/internal/shell/command.ts';
import type { AuthorityOperator, ServerOperator } from '@basa/client/operator';
import { fromHex, toHex } from '@basa/masking';
import { encodePolicy, type TaskPolicy } from '@basa/protocol';
import { updateOf } from '../exact-updates.ts';
import { kitPolicy, oneShotPolicy } from '../kit-policy.ts';
import { type Check, Report, type Verdict } from '../report.ts';
import { WHOLE_STEP } from '../whole-step.ts';
import { aboutChecks } from './about-checks.ts';
import { closingChecks, limitChecks, pauseChecks } from './closing-checks.ts';
import { councilChecks } from './council-checks.ts';
import { enrolmentChecks } from './enrolment-checks.ts';
import { KitDevice, type KitTask } from './kit-task.ts';
import { Probe } from './probe.ts';
import { revocationChecks } from './revocation-checks.ts';
import { shotChecks } from './shot-checks.ts';
import { depositChecks, keyChecks, seatChecks } from './slot-checks.ts';
import { modelChecks, taskChecks } from './task-checks.ts';
import { uploadChecks } from './upload-checks.ts';

export interface ServerTest {
  readonly serverUrl: string;
  /** Several with commas between them: the task has all of them. */
  readonly authorityUrl: string;
  /** An operator's token at the server. */
  readonly operatorToken: string;
  /** One for each authority, with commas between them. */
  readonly authorityToken: string;
  readonly server: ServerOperator;
  readonly authority: AuthorityOperator;
  readonly signal: AbortSignal;
  /** Selects scenes by name; all by default. */
  isPlayed?(scene: string): boolean;
  onCheck?(check: Check): void;
}

export async function checkServer(test: ServerTest): Promise<Verdict> {
  const report = new Report(test.onCheck);
  const kit = await openTask(test, report);
  const scenes: readonly (readonly [name: string, play: (kit: KitTask) => Promise<void>])[] = [
    ['what anybody may ask', aboutChecks],
    ['tasks', taskChecks],
    ['models', modelChecks],
    ['enrolment', enrolmentChecks],
    ['a buffer', aBuffer],
    ['limits', limitChecks],
    ['revocation', revocationChecks],
    ['one-shot', () => oneShot(test, report)],
    ...(kit.authorities.length > 1 ? [['several authorities', councilChecks] as const] : []),
  ];
  for (const [name, play] of scenes) {
    if (test.isPlayed?.(name) ?? true) await report.play(name, () => play(kit));
  }
  await kit.operators.server.setState(kit.task, 'paused');
  return report.verdict;
}

/** Three real devices fill a buffer, and everything they said is said again in other ways. */
async function aBuffer(kit: KitTask): Promise<void> {
  const { policy, report } = kit;
  const devices: KitDevice[] = [];
  try {
    for (let n = 0; n < policy.bufferSize; n++) devices.push(await KitDevice.enrolled(kit));
    const [first, ...others] = devices as [KitDevice, ...KitDevice[]];
    const held = await first.holdUpload(0, policy);
    await report.play('deposits', () => depositChecks(kit, first));
    await report.play('keys', () => keyChecks(kit, first));
    await report.play('uploads', () => uploadChecks(kit, first, held));
    for (const [n, device] of others.entries()) {
      const { version } = await device.client.model();
      const result = await device.client.contribute(updateOf(n + 1, policy), { trainedOn: version });
      if (result.kind !== 'accepted') throw new Error(`a device of the kit was refused: ${result.reason}`);
    }
    const [, , , ctx = ''] = held.path.split('/');
    await report.play('the end of a buffer', () => closingChecks(kit, devices, ctx));
    await report.play('seats', () => seatChecks(kit, first));
    await report.play('a pause', () => pauseChecks(kit, first));
  } finally {
    await Promise.all(devices.map((device) => device.close()));
  }
}

/** The same three devices in a task of the one-shot mode. */
async function oneShot(test: ServerTest, report: Report): Promise<void> {
  const kit = await openTask(test, report, ({ length }) => oneShotPolicy(length));
  try {
    await shotChecks(kit);
  } finally {
    await kit.operators.server.setState(kit.task, 'paused');
  }
}

async function openTask(
  test: ServerTest,
  report: Report,
  change: (authorityKeys: readonly Uint8Array[]) => Partial<TaskPolicy> = () => ({}),
): Promise<KitTask> {
  const { server, authority, serverUrl, authorityUrl, operatorToken, signal } = test;
  const about = await server.about();
  const authorityKeys = (await authority.publicKeys()).map((key) => keyOf(key, 'authority'));
  const serverKey = keyOf(about.publicKey, 'server');
  const policy = kitPolicy({ serverKey, authorityKeys }, change(authorityKeys));
  const task = await authority.createTask(policy);
  await server.createTask({ policy: toHex(encodePolicy(policy)), serverStep: WHOLE_STEP });
  const tokens = test.authorityToken.split(',');
  const authorities = authorityUrl.split(',').map((url, n) => {
    const audience = authorityKeys[n] as Uint8Array;
    return new Probe({ report, signal, url, audience, operatorToken: tokens[n] as string });
  });
  return {
    server: new Probe({ report, signal, url: serverUrl, audience: serverKey, operatorToken }),
    authorities,
    authority: authorities[0] as Probe,
    operators: { server, authority },
    authorityKey: authorityKeys[0] as Uint8Array,
    task,
    policy,
    report,
    signal,
    async token() {
      const [token = ''] = await authority.tokens(task, 1, Date.now() + 3_600_000);
      return token;
    },
  };
}

function keyOf(hex: string, name: string): Uint8Array {
  const key = fromHex(hex);
  if (key?.length !== 32) throw new CommandError(`the ${name} does not name its public key in hex`);
  return key;
}
