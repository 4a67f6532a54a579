/** The cost of sealing and opening in this tab, with each engine: the fastest of a few runs, because the machine may be busy. */
import { allSteps, type Ctx, ENGINE, type JoinTag, type Registration, type Slot, type TaskId } from '@basa/protocol';
import { webRandomBytes, webSuite } from '@basa/runtime/web';
import { overAttributes, type Sealings } from '@basa/simulator';
import { loadAbeSealings, slotKeySealings } from '../shared/simulation.ts';
import type { EnginePrices, Prices } from './play-messages.ts';

const TRIES = 8;
const SLOT = 1 as Slot;
const AUTHORITY = 0;
const FOREVER = Number.POSITIVE_INFINITY;

export async function measurePrices(): Promise<Prices> {
  const cpAbe = overAttributes(webSuite, ENGINE.cpAbe, (await loadAbeSealings())());
  return { paper: pricesOf(cpAbe), sealed: pricesOf(slotKeySealings()) };
}

function pricesOf({ issuer, sealing }: Sealings): EnginePrices {
  const best = { seal: FOREVER, open: FOREVER, issue: FOREVER, release: FOREVER };
  const clocked = <Result>(name: keyof typeof best, work: () => Result): Result => {
    const began = performance.now();
    const result = work();
    best[name] = Math.min(best[name], (performance.now() - began) / 1000);
    return result;
  };
  const [seed, joinTag] = [webRandomBytes(32), webRandomBytes(32) as JoinTag];
  const use = { role: 'edge', joinTag } as const;
  for (let n = 0; n < TRIES; n++) {
    const ctx = webRandomBytes(32) as Ctx;
    const registration = webRandomBytes(32) as Registration;
    const offer = webRandomBytes(16);
    const source = { task: webRandomBytes(32) as TaskId, offer, bufferSize: SLOT + 1 };
    const slotKeys = allSteps(issuer.slotKeys(source));
    const parts = [{ authority: AUTHORITY, offer, sealingKey: issuer.sealingKey(slotKeys) }];
    const buffer = { ctx, slotKeys, descriptor: { threshold: 1, parts, bufferSize: source.bufferSize } };
    const keys = issuer.keysOf({ ctx, authority: AUTHORITY, source });
    const key = clocked('issue', () => keys.edge(SLOT));
    const sealed = clocked('seal', () => sealing.sealEdge(buffer, SLOT, use, seed));
    // A key that was never used before, like nearly every key at a server.
    clocked('open', () => sealing.edgeOpener(buffer, SLOT, [{ authority: AUTHORITY, key }])?.(sealed, use));
    const selfName = sealing.sealSelf(buffer, registration, seed).subarray(0, sealing.selfNameBytes);
    clocked('release', () => keys.self(registration, selfName));
  }
  return {
    sealSeconds: best.seal,
    openSeconds: best.open,
    issueSeconds: best.issue,
    releaseSeconds: best.release,
  };
}
