/**
 * Sizes of the messages that one user sends and receives in `sealed` mode, from a real run of every slot, with real slot keys and with
 * seeds and keys of the lengths of CP-ABE. The vector is not made; its size is computed.
 */

import { elementBits, type Modulus, packedLength, RING_32, ring } from '@basa/masking';
import { drawnBufferCodec, ENGINE, POLICY_DEFAULTS, prefixElements } from '@basa/protocol';
import { nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { granted, overAttributes, type Sealings, sealingTrial } from '@basa/simulator';
import { nodeFederation } from '@basa/testkit/core/tools.ts';
import { paddedSealings } from '@basa/virtual-time';
import { abeSealings, slotKeySealings } from '@basa/virtual-time/real-sealings';
import type { BenchResult } from './result.ts';
import { formatTable } from './table.ts';

const DIMENSION = 1_000_000;
const SMALL = 8;
const MODULI: readonly Modulus[] = [RING_32, ring(24), ring(20), ring(16)];
/** CP-ABE simulated only by its lengths: a whole buffer of it takes minutes. */
function paddedAbe(): Sealings {
  const sealings = abeSealings();
  const { sealedBytes, keyBytes } = sealingTrial(sealings, 1, nodeRandomBytes);
  const publicKeyBytes = sealings.issuer.publicKey.length;
  const padded = paddedSealings(nodeSuite, { sealedBytes, keyBytes, publicKeyBytes });
  return overAttributes(nodeSuite, ENGINE.unsafeTransparent, padded);
}

interface SlotSizes {
  /** Descriptor and slot keys. */
  readonly seatAnswer: number;
  readonly deposit: number;
  readonly depositAnswer: number;
  readonly keyRequest: number;
  readonly keyAnswer: number;
  /** Header, padding and backups: the upload without its vector. */
  readonly uploadRest: number;
}

function measureSlots(bufferSize: number, sealings: Sealings): SlotSizes[] {
  const world = nodeFederation({ bufferSize, dimension: SMALL, sealings });
  return Array.from({ length: bufferSize }, () => {
    const device = world.device();
    const sizes: Partial<Record<keyof SlotSizes, number>> = {};
    const { server, authority } = world;
    const [seat, deposit, upload, issueKey] = [server.seat, server.deposit, server.upload, authority.issueKey];
    server.seat = (certificate) => {
      const answer = seat.call(server, certificate);
      if ('descriptor' in answer) sizes.seatAnswer = drawnBufferCodec.encode(answer).length;
      return answer;
    };
    server.deposit = (bytes) => {
      const answer = deposit.call(server, bytes);
      sizes.deposit = bytes.length;
      if (answer instanceof Uint8Array) sizes.depositAnswer = answer.length;
      return answer;
    };
    authority.issueKey = (bytes) => {
      const answer = issueKey.call(authority, bytes);
      sizes.keyRequest = bytes.length;
      if (answer instanceof Uint8Array) sizes.keyAnswer = answer.length;
      return answer;
    };
    server.upload = (bytes) => {
      sizes.uploadRest = bytes.length - packedLength(SMALL + prefixElements(POLICY_DEFAULTS), RING_32);
      return upload.call(server, bytes);
    };
    granted(device.contribute());
    Object.assign(server, { seat, deposit, upload });
    Object.assign(authority, { issueKey });
    return sizes as SlotSizes;
  });
}

const mean = (numbers: readonly number[]): number => numbers.reduce((sum, value) => sum + value, 0) / numbers.length;
const perParameter = (bytes: number): string => (bytes / DIMENSION).toFixed(4);

export function benchMessages(): BenchResult {
  const engines = [
    { engine: 'slot keys', sealings: slotKeySealings() },
    { engine: 'CP-ABE', sealings: paddedAbe() },
  ];
  const rows: string[][] = [];
  const json: object[] = [];

  for (const { engine, sealings } of engines) {
    for (const K of [10, 32, 100]) {
      const slots = measureSlots(K, sealings);
      for (const modulus of MODULI) {
        const vector = packedLength(DIMENSION + prefixElements(POLICY_DEFAULTS), modulus);
        const uploads = slots.map(({ uploadRest }) => uploadRest + vector);
        const up = mean(slots.map((slot, n) => slot.deposit + slot.keyRequest + (uploads[n] as number)));
        const down = mean(slots.map((slot) => slot.seatAnswer + slot.depositAnswer + slot.keyAnswer));
        const bits = elementBits(modulus);
        rows.push([
          engine,
          `${K}`,
          `${bits}`,
          `${slots[0]?.deposit}`,
          perParameter(mean(uploads)),
          perParameter(Math.max(...uploads)),
          perParameter(up),
          `${Math.round(down)}`,
        ]);
        json.push({
          engine,
          K,
          bits,
          depositBytes: slots[0]?.deposit,
          uploadBytesMean: mean(uploads),
          uploadBytesMost: Math.max(...uploads),
          totalUp: up,
          totalDown: down,
        });
      }
    }
  }

  const about = `Messages of one user in sealed mode, d = ${DIMENSION.toLocaleString('en')}. B/d means bytes per parameter.`;
  const header = ['engine', 'K', 'bits', 'deposit B', 'upload B/d', 'last slot B/d', 'all up B/d', 'all down B'];
  return { text: `${about}\n\n${formatTable(header, rows)}`, json: { sizes: json } };
}
