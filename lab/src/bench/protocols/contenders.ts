/** The protocols whose cost is composed, each with and without real sealing. */
import { type AggregationProtocol, type AggregationTools, plainAggregation, secAgg, secAggPlus } from '@basa/baselines';
import { partsOf } from '@basa/protocol/internal/wire/one-shot-policy.ts';
import { basaOneShot, type Environment, unsafeBasaPaper } from '@basa/simulator';
import { nodeEnvironment } from '@basa/simulator/node';
import { paperAbeSealings } from '@basa/simulator/real-sealings';
import { countedSealings, type Meter } from '@basa/simulator/virtual-time';
import { type Charged, counted } from './composed.ts';
import type { DeviceHashes } from './device-hashes.ts';
import type { SealingPrices } from './prices.ts';

export interface Contender extends Charged {
  readonly name: string;
  /** With expansions and calls of the sealing counted, the calls free of charge. */
  readonly counted: (meter: Meter) => AggregationProtocol;
  /** The complete real protocol. */
  readonly real: () => AggregationProtocol;
}

export function contenders(
  dropouts: number,
  tools: AggregationTools,
  cpAbe: SealingPrices,
  hashed: DeviceHashes = new Map(),
): readonly Contender[] {
  const risk = { corrupt: 0.05, dropped: Math.max(0.05, dropouts) };
  const baseline = (name: string, make: (tools: AggregationTools) => AggregationProtocol): Contender => ({
    name,
    counted: (meter) => make(counted(tools, meter)),
    real: () => make(tools),
  });
  return [
    baseline('plain', plainAggregation),
    baseline('SecAgg', secAgg),
    baseline('SecAgg+', (from) => secAggPlus(from, risk)),
    paper(tools, cpAbe),
    ...ONE_SHOTS.map((shape) => oneShot(tools, shape, hashed)),
  ];
}

function outside({ masks }: AggregationTools): Environment {
  return { ...nodeEnvironment, tools: masks };
}

/** The calls of the sealing are counted and charged. */
function paper(tools: AggregationTools, { seals, opens, issues, ...sizes }: SealingPrices): Contender {
  return {
    name: 'BASA paper (CP-ABE)',
    counted: (meter) => unsafeBasaPaper(outside(counted(tools, meter)), { sealings: countedSealings(meter, sizes) }),
    real: () => unsafeBasaPaper(outside(tools), { sealings: paperAbeSealings() }),
    sealingMs: { seals, opens, issues },
  };
}

/** One authority, and the smallest council that checks its sums and survives the loss of one member. */
export const ONE_SHOTS = [
  { name: 'BASA one-shot', council: { authorities: 1, threshold: 1 }, tolerated: 0 },
  { name: 'BASA one-shot (3 of 4)', council: { authorities: 4, threshold: 3 }, tolerated: 1 },
] as const;
export type OneShotShape = (typeof ONE_SHOTS)[number];

/** The server makes a checksum of each body. The guard words are really expanded. */
export function oneShot(
  tools: AggregationTools,
  { name, council, tolerated }: OneShotShape,
  hashed: DeviceHashes,
): Contender {
  const parts = partsOf(council.authorities, tolerated).length;
  return {
    name,
    counted: (meter) => basaOneShot(outside(counted(tools, meter)), { council, tolerated, guardTools: tools.masks }),
    real: () => basaOneShot(outside(tools), { council, tolerated }),
    hashes: { user: hashed, server: 1 },
    maskSums: { made: parts * (tolerated + 1), taken: parts },
  };
}
