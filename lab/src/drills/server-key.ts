/**
 * Tests that another key takes the place of a server's while devices work: at one server with one authority and the recovery key, and at
 * three nodes on PostgreSQL, where three of four authorities sign.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { toHex } from '@basa/masking';
import { acceptTerm, inTerm, SERVER_SEAT } from '@basa/protocol';
import { createNodeSigner, nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import type { Verdict } from '../trials/crash/verdict.ts';
import type { TrialInput } from '../trials/program.ts';
import { type BothVerdicts, bothVerdicts, Drill } from './drill.ts';
import { publishedTerm, WAIT_MS } from './term.ts';

export interface ServerKeyReport extends BothVerdicts {
  /** One server: from the effective time until a version was made under the new key. */
  readonly pausedMs: number;
  /** The same at three nodes with four authorities. */
  readonly pausedNodesMs: number;
}

export async function runServerKey(input: TrialInput): Promise<ServerKeyReport> {
  input.onLine('one server, one authority');
  const alone = await replaced(input, {});
  input.onLine('three nodes on PostgreSQL, four authorities');
  const nodes = await replaced(input, { nodes: 3, authorities: 4 });
  return { pausedMs: alone.pausedMs, pausedNodesMs: nodes.pausedMs, ...bothVerdicts(alone, nodes) };
}

function replaced(
  input: TrialInput,
  size: { readonly nodes?: number; readonly authorities?: number },
): Promise<Verdict & { readonly pausedMs: number }> {
  const recovery = createNodeSigner(nodeRandomBytes(32));
  const succession = { waitMs: WAIT_MS, recoveryHash: nodeSuite.sha256(recovery.publicKey) };
  return Drill.run({ ...input, ...size, policy: { succession } }, async (drill) => {
    const { basa } = drill;
    const secret = nodeRandomBytes(32);
    const next = createNodeSigner(secret);
    const nextSigningKeyFile = join(basa.folder, 'next.key');
    writeFileSync(nextSigningKeyFile, toHex(secret), { mode: 0o600 });
    await drill.versions(2);
    basa.change({ server: { nextSigningKeyFile } });
    for (const name of basa.servers) await drill.restart(name);
    const authorities = basa.authorities.map((name) => basa.urls[name] ?? '');
    const term = await publishedTerm(drill, {
      named: { seat: SERVER_SEAT, key: next.publicKey, address: '' },
      accept: async (body) => acceptTerm(nodeSuite, next, body),
      signers: authorities.slice(0, basa.policy.threshold),
      listeners: authorities,
      recovery,
    });
    await sleep(Math.max(0, term.effective - Date.now()));
    await drill.versions(1);
    const pausedMs = Date.now() - term.effective;
    drill.say(`${pausedMs} ms after the term began there was a version under the new key`);
    drill.retire({ policy: basa.policy, names: [], logs: [] });
    basa.replaceServerKey(secret, inTerm(nodeSuite, basa.policy, term));
    for (const name of basa.servers) await drill.restart(name);
    drill.say('the new key has taken the place of the old one, which is gone');
    await drill.versions(2);
    return { pausedMs };
  });
}
