/** One seed sealed and opened by each engine, in processor time, beside the operations that each of them needs at least. */
import { diffieHellman, generateKeyPairSync } from 'node:crypto';
import { createMclGroup } from '@basa/abe';
import { nodeRandomBytes } from '@basa/runtime/node';
import { sealingTrial } from '@basa/simulator';
import { abeSealings, slotKeySealings } from '@basa/virtual-time/real-sealings';
import { processorTimeInTurn } from './measure.ts';
import type { BenchResult } from './result.ts';
import { formatTable } from './table.ts';

const ROUNDS = 25;
const SLOTS = 10;

export async function benchSealing(): Promise<BenchResult> {
  const [slotKeys, cpAbe] = [slotKeySealings(), abeSealings()].map((sealings) =>
    sealingTrial(sealings, SLOTS, nodeRandomBytes),
  );
  if (slotKeys === undefined || cpAbe === undefined) throw new Error('two engines are compared');
  const times = processorTimeInTurn(
    {
      x25519: agreement(),
      slotKeysSeal: slotKeys.seal,
      slotKeysOpen: slotKeys.open,
      pairings: await threePairings(),
      cpAbeSeal: cpAbe.seal,
      cpAbeOpen: cpAbe.open,
    },
    ROUNDS,
  );
  const row = (title: string, name: keyof typeof times, peer: 'x25519' | 'pairings', bytes = ''): string[] => [
    title,
    times[name].toFixed(4),
    (times[name] / times[peer]).toFixed(2),
    bytes,
  ];
  const text = [
    `One seed of 32 bytes, sealed to one slot and opened with its key. Processor time of one process, medians of ${ROUNDS} turns.`,
    'The peer of slot keys is one agreement of X25519 by node:crypto, with both keys kept as its objects; that of CP-ABE is',
    'one product of three pairings by mcl. An opening is held to at most 4 agreements.',
    '',
    formatTable(
      ['operation', 'ms', 'times its peer', 'sealed bytes'],
      [
        row('X25519, one agreement', 'x25519', 'x25519'),
        row('slot keys: seal', 'slotKeysSeal', 'x25519', `${slotKeys.sealedBytes}`),
        row('slot keys: open', 'slotKeysOpen', 'x25519'),
        row('mcl, a product of three pairings', 'pairings', 'pairings'),
        row('CP-ABE: seal', 'cpAbeSeal', 'pairings', `${cpAbe.sealedBytes}`),
        row('CP-ABE: open', 'cpAbeOpen', 'pairings'),
      ],
    ),
  ].join('\n');
  const sealing = {
    slotKeys: engineJson(times.slotKeysSeal, times.slotKeysOpen, slotKeys.sealedBytes),
    cpAbe: engineJson(times.cpAbeSeal, times.cpAbeOpen, cpAbe.sealedBytes),
    x25519Ms: round(times.x25519),
    product3Ms: round(times.pairings),
    peers: {
      slotKeys: 'one agreement of X25519 by node:crypto',
      cpAbe: 'one product of three pairings by mcl',
    },
  };
  return { text, json: { sealing } };
}

function agreement(): () => void {
  const [{ privateKey }, { publicKey }] = [generateKeyPairSync('x25519'), generateKeyPairSync('x25519')];
  return () => void diffieHellman({ privateKey, publicKey });
}

async function threePairings(): Promise<() => void> {
  const { g1, g2, pairingProduct } = await createMclGroup();
  const pair = { g1: g1.generator, g2: g2.generator };
  return () => void pairingProduct([pair, pair, pair]);
}

function engineJson(sealMs: number, openMs: number, sealedBytes: number): object {
  return { sealMs: round(sealMs), openMs: round(openMs), sealedBytes };
}

function round(ms: number): number {
  return Math.round(10_000 * ms) / 10_000;
}
