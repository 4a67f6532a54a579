/** The common parts of inspections and releases in the one-shot mode: the work for the threads, and epochs that prove a roll-back. */
import { type RandomBytes, type Signer, toHex } from '@basa/masking';
import { type Epoch, encodePolicy, epochCodec, indexOf } from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import type { KnownTask } from '../log/directory.ts';
import type { MaskThreads, UploadsWork } from '../masks/mask-threads.ts';
import type { ShotEpochTools } from './shot-epochs.ts';

export interface ShotTools extends ShotEpochTools {
  readonly threads: MaskThreads;
  readonly signer: Signer;
  readonly randomBytes: RandomBytes;
}

export function ownIndex({ signer }: ShotTools, { policy }: KnownTask): number {
  return indexOf(policy, signer.publicKey) as number;
}

/** The uploads of an encoded request, with the secrets of the live epochs of its task. */
export async function uploadsWork(
  tools: ShotTools,
  known: KnownTask,
  request: Uint8Array,
  count: number,
): Promise<UploadsWork> {
  const { authority, shotSecrets } = tools;
  const live = await authority.look((core) => core.liveEpochs);
  const secrets = live.flatMap(({ epoch, statement }) => {
    const secret = toHex(epoch.task) === toHex(known.task) ? shotSecrets.openingOf(epoch) : undefined;
    return secret === undefined ? [] : [{ statement, ...secret }];
  });
  return { request, policy: encodePolicy(known.policy), authority: ownIndex(tools, known), secrets, count };
}

/** An epoch that this authority signed but that is not in its log shows that the log was rolled back: then every epoch is dead. */
export async function meetEpochs(
  { authority, signer, randomBytes }: ShotTools,
  shown: readonly Epoch[],
): Promise<void> {
  const live = new Set(authority.core.liveEpochs.map(({ statement }) => toHex(statement)));
  for (const epoch of shown) {
    const isLive = live.has(toHex(epochCodec.statementHash(nodeSuite, epoch)));
    const policy = authority.directory.task(epoch.task)?.policy;
    const isOurs = policy !== undefined && indexOf(policy, signer.publicKey) === epoch.authority;
    if (isOurs && !isLive) await authority.ask((core, now) => core.meetEpoch(epoch, randomBytes(16), now));
  }
}
