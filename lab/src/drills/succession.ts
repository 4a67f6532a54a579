/**
 * Tests that another authority takes the seat of a lost one: first one of four, then the only authority of a task. No device is enrolled
 * again.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { fromHex, type Signer } from '@basa/masking';
import { inTerm, type Term } from '@basa/protocol';
import { createNodeSigner, nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import type { AuthorityName } from '@basa/testkit/processes/test-processes.ts';
import type { Verdict } from '../trials/crash/verdict.ts';
import type { TrialInput } from '../trials/program.ts';
import { type BothVerdicts, bothVerdicts, Drill } from './drill.ts';
import { operatorAt, publishedTerm, unsigned, WAIT_MS } from './term.ts';

/** Unknown are the updates that were open when a term began; their devices hold them. */
export interface SuccessionReport extends BothVerdicts {
  /** Of four authorities: from the effective time until a version was made in the new term. */
  readonly pausedMs: number;
  /** The same with one authority. */
  readonly pausedAloneMs: number;
}

const SEAT = 0;
const SUCCESSOR: AuthorityName = 'authority-9';

export async function runSuccession(input: TrialInput): Promise<SuccessionReport> {
  input.onLine('one of four authorities');
  const several = await replaced(input, 4);
  input.onLine('the only authority');
  const alone = await replaced(input, 1);
  return { pausedMs: several.pausedMs, pausedAloneMs: alone.pausedMs, ...bothVerdicts(several, alone) };
}

function replaced(input: TrialInput, authorities: number): Promise<Verdict & { readonly pausedMs: number }> {
  const recovery = createNodeSigner(nodeRandomBytes(32));
  const succession = { waitMs: WAIT_MS, recoveryHash: nodeSuite.sha256(recovery.publicKey) };
  return Drill.run({ ...input, authorities, policy: { succession } }, async (drill) => {
    const { basa } = drill;
    await drill.versions(2);
    const logs = await basa.authority.logs();
    const before = { policy: basa.policy, names: basa.authorities, logs };
    const lost = basa.authorities[SEAT] as AuthorityName;
    basa.children.get(lost)?.kill('SIGKILL');
    await basa.stop(lost);
    drill.say(`${lost} is gone for good`);
    const term = await signedTerm(drill, recovery);
    await sleep(Math.max(0, term.effective - Date.now()));
    await drill.versions(1);
    const pausedMs = Date.now() - term.effective;
    await drill.versions(2);
    drill.say(`the successor has the seat; ${pausedMs} ms after its term began there was a version`);
    await basa.replaceAuthority(SEAT, SUCCESSOR, inTerm(nodeSuite, basa.policy, term));
    // With four authorities, the others know the outcome of earlier updates. A single authority is started again for the verdict.
    if (authorities > 1) drill.retire({ ...before, names: [] });
    else {
      await basa.start(lost);
      drill.retire({ ...before, logs: await logsOf(drill, lost) });
    }
    return { pausedMs };
  });
}

function logsOf(drill: Drill, name: AuthorityName): Promise<readonly Uint8Array[]> {
  return operatorAt(drill, drill.basa.urls[name] ?? '').logs();
}

/** The successor accepts the seat, and the others name it. */
async function signedTerm(drill: Drill, recovery: Signer): Promise<Term> {
  const { basa } = drill;
  await basa.startSuccessor(SUCCESSOR);
  const address = basa.urls[SUCCESSOR] ?? '';
  const [key = ''] = await operatorAt(drill, address).publicKeys();
  const others = basa.authorities.filter((_, seat) => seat !== SEAT).map((name) => basa.urls[name] ?? '');
  return publishedTerm(drill, {
    named: { seat: SEAT, key: fromHex(key) ?? new Uint8Array(), address },
    accept: async (body) => (await operatorAt(drill, address).signTerm(basa.task, unsigned(body))).accepted,
    signers: others,
    listeners: [...others, address],
    recovery,
  });
}
